/** Whether the answer to a yes-or-no question is yes. No answer is a no. */
export const isYes = (answer: string | undefined): boolean => /^y(es)?$/i.test(answer?.trim() ?? '')
