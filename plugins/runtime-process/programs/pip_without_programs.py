"""pip that cannot start programs.

Otherwise it would build a requirement named by URL, whatever --only-binary says. An audit hook (PEP 578)
cannot be removed.
"""
import runpy, sys
def refuse(event, args):
    if event in ('subprocess.Popen', 'os.system', 'os.exec', 'os.posix_spawn', 'os.fork', 'os.forkpty'):
        raise PermissionError('packages are installed from wheels only, and nothing is run for them')
sys.addaudithook(refuse)
sys.argv[0] = 'pip'
runpy.run_module('pip', run_name='__main__')
