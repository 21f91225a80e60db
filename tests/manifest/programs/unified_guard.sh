#!/bin/sh
# A guard that speaks onehook's own form: the unified event on stdin, a response on stdout.
input=$(cat)
case $input in
*'"command":"rm -rf'*) echo '{"decision": "deny", "reason": "rm -rf is blocked by the unified guard"}' ;;
esac
