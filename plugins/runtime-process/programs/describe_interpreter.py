"""Prints the path and the prefix of the interpreter that runs it, as JSON."""
import json, sys
print(json.dumps([getattr(sys, '_base_executable', None) or sys.executable, sys.base_prefix]))
