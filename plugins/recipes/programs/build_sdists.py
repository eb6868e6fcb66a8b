"""Builds the source distributions, which runs their code, and prints their names."""
import os, subprocess, sys
SDISTS = "/fetched/sdists"
names = sorted(os.listdir(SDISTS))
if names:
    print("__SCRIPTS_LINE__" + " ".join(name.removesuffix(".tar.gz").removesuffix(".zip") for name in names), flush=True)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--no-deps", "--use-pep517"]
    paths = [os.path.join(SDISTS, name) for name in names]
    sys.exit(subprocess.run([*pip, *sys.argv[1:], "-w", "/fetched/wheels", *paths]).returncode)
