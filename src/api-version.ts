/** The plugin API this host offers; plugins of this version and the one before it load. */
export const API_VERSION = 1
