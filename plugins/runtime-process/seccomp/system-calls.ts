/** Processors that the filter is made for, as `process.arch` names them. */
export type Architecture = 'x64' | 'arm64'

/** linux/audit.h: AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
export const AUDIT_ARCH: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 }

/** The numbers of a system call; undefined where that processor has none. */
export type Numbers = readonly [x64: number | undefined, arm64: number | undefined]

/** Calls whose arguments decide. */
export const JUDGED = {
  ioctl: [16, 29],
  socket: [41, 198],
  clone: [56, 220],
  personality: [135, 92],
  clone3: [435, 435],
} as const satisfies Record<string, Numbers>

/**
 * Calls that are refused whatever their arguments: what docker's default profile refuses without
 * capabilities, and ptrace, process_vm_*, io_uring and the like, whose bugs have allowed programs to escape
 * sandboxes. Numbers: asm/unistd_64.h of x86 and asm-generic/unistd.h (which arm64 uses) of Linux.
 */
export const REFUSED: Readonly<Record<string, Numbers>> = {
  // mounts and namespaces
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  unshare: [272, 97],
  setns: [308, 268],
  // other processes
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  // large interfaces of the kernel
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  lookup_dcookie: [212, 18],
  modify_ldt: [154, undefined],
  // keys of the kernel, which are not kept apart by namespaces
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // where memory lies
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  get_mempolicy: [239, 236],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  set_mempolicy_home_node: [450, 450],
  // the machine itself
  acct: [163, 89],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  settimeofday: [164, 170],
  create_module: [174, undefined],
  delete_module: [176, 106],
  finit_module: [313, 273],
  get_kernel_syms: [177, undefined],
  init_module: [175, 105],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  nfsservctl: [180, 42],
  query_module: [178, undefined],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  swapoff: [168, 225],
  swapon: [167, 224],
  sysfs: [139, undefined],
  _sysctl: [156, undefined],
  syslog: [103, 116],
  uselib: [134, undefined],
  ustat: [136, undefined],
  vhangup: [153, 58],
}

/**
 * The newest call that was looked at (Linux 6.18: file_setattr). Newer ones do not exist for the sandbox,
 * as on an older kernel, since their effects were not examined here.
 */
export const NEWEST = 469

/** socket(2): families a server needs. The others reach past the network namespace (vsock) or are rarely tested code. */
export const SOCKET_FAMILIES: readonly number[] = [1, 2, 10, 16] // unix, inet, inet6, netlink

/** clone(2): CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
export const NAMESPACE_FLAGS = 0x7e020000

/** ioctl(2): TIOCSTI types into a terminal, TIOCLINUX pastes into one. */
export const TERMINAL_REQUESTS: readonly number[] = [0x5412, 0x541c]

/** personality(2): PER_LINUX, PER_LINUX32, each also with UNAME26, and the question for the present one. */
export const PERSONALITIES: readonly number[] = [0, 8, 0x20000, 0x20008, 0xffffffff]
