/** Whether a value asks for nothing: exports hold members that are not set as null, "", 0, false, [] or {}. */
export const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).every(isEmpty) : !value
