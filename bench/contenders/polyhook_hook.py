import polyhook

event = polyhook.read()
if event.tool == "bash" and "rm -rf" in (event.input or {}).get("command", ""):
    polyhook.respond(polyhook.block("rm -rf is blocked by policy"))
else:
    polyhook.respond(polyhook.approve())
