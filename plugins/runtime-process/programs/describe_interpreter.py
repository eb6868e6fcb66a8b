"""Prints the path and the prefix of the interpreter that runs it, and the folder of its pip, as JSON."""
import json, os, site, sys
folders = site.getsitepackages([sys.base_prefix, sys.base_exec_prefix])
pip = next((folder for folder in folders if os.path.isfile(os.path.join(folder, 'pip', '__main__.py'))), '')
print(json.dumps([getattr(sys, '_base_executable', None) or sys.executable, sys.base_prefix, pip]))
