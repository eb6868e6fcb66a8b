"""Makes /app/mcp-server a link to the package's program (entry points specification)."""
import os, re, sys
from importlib.metadata import distribution

def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()

package = sys.argv[1]
found = distribution(package)
names = [e.name for e in found.entry_points if e.group == "console_scripts"]
same = [n for n in names if canonical(n) == canonical(package)]
chosen = (same or names)[0] if same or len(names) == 1 else None
if chosen is None:
    if names:
        sys.exit(f"{package} has several programs ({', '.join(names)}) and none bears its name.")
    sys.exit(f"{package} has no program to run.")
os.symlink(f"venv/bin/{chosen}", "/app/mcp-server")
