import { SCRIPTS_LINE } from './recipe.ts'

/** Builds the source distributions, which runs code of theirs, and says which there are. */
export const BUILD_SDISTS = `import os, subprocess, sys
SDISTS = "/fetched/sdists"
names = sorted(os.listdir(SDISTS))
if names:
    print("${SCRIPTS_LINE}" + " ".join(name.removesuffix(".tar.gz").removesuffix(".zip") for name in names), flush=True)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--no-deps", "--use-pep517"]
    paths = [os.path.join(SDISTS, name) for name in names]
    sys.exit(subprocess.run([*pip, *sys.argv[1:], "-w", "/fetched/wheels", *paths]).returncode)
`

/** Makes /app/mcp-server a link to the package's program (entry points specification). */
export const LINK_ENTRY = `import os, re, sys
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
`
