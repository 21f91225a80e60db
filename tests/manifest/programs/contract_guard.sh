#!/bin/sh
# A guard that speaks the open contract: {"tool_name", "tool_input"} on stdin, {"decision"} on stdout, exit 2 to block.
input=$(cat)
case $input in
*'"tool_name":'*'"Shell"'*'rm -rf'*) # callers write it with a space or without
    echo '{"decision": "deny", "reason": "rm -rf is blocked by the sh guard"}'
    exit 2
    ;;
esac
echo '{"decision": "allow"}'
