"""pip that starts no programs but those that tell it about the system.

A requirement that is an address is not bound by --only-binary: pip would build what it finds there. An audit
hook (PEP 578) cannot be removed.
"""
import os, runpy, sys

def refuse(event, args):
    if event != "subprocess.Popen":
        return
    program = os.path.basename(os.fsdecode(args[0] or args[1][0]))
    if not program.startswith("ld-musl") and program not in ("lsb_release", "uname"):
        raise SystemExit(f"A package wants to run {program} while it is fetched: refused.")

sys.addaudithook(refuse)
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
