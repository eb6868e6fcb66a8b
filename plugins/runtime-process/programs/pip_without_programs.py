"""pip that cannot start programs. The first argument is the folder of a pip; '' where the environment has its own.

Otherwise it would build a requirement named by URL, whatever --only-binary says. An audit hook (PEP 578)
cannot be removed.
"""
import importlib.machinery, runpy, sys
def refuse(event, args):
    if event in ('subprocess.Popen', 'os.system', 'os.exec', 'os.posix_spawn', 'os.fork', 'os.forkpty'):
        raise PermissionError('packages are installed from wheels only, and nothing is run for them')
class FindPip:
    """Finds pip in that folder, and nothing else of it: its other packages are not in the environment."""
    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.machinery.PathFinder.find_spec(name, [folder], target) if name == 'pip' else None
folder = sys.argv.pop(1)
if folder:
    sys.meta_path.append(FindPip)
sys.addaudithook(refuse)
sys.argv[0] = 'pip'
runpy.run_module('pip', run_name='__main__')
