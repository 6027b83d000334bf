import type { PageLanguage } from '../languages.ts'

/** Options of a view in the frame. */
export interface ViewOptions {
  /** Token of the opened page. */
  token: string
  /** The language in which the page starts. */
  language: PageLanguage
  onCompleted: (status: string) => void
  /** Called with the error code when the page stops working after it was shown. */
  onFailed: (code: string) => void
}

/** Shows a view. Returns the error code if it cannot be shown. */
export type ShowView = (root: HTMLElement, options: ViewOptions) => Promise<string | undefined>
