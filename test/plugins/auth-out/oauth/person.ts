import type { LoginStep, Person } from '../../../../plugins/auth-out/oauth/types.ts'

/** A person whose browser does what `visit` does with the URL. What is shown is kept. */
export function personWithBrowser(visit: (url: string) => unknown): Person & { readonly steps: LoginStep[] } {
  const steps: LoginStep[] = []
  return {
    steps,
    show(step) {
      steps.push(step)
    },
    async openBrowser(url) {
      void visit(url)
      return true
    },
  }
}
