/** Where a workload is shown on this page. */
export const placeOf = (name: string): string => `#/${encodeURIComponent(name)}`
