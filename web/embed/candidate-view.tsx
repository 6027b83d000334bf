import { render } from 'preact'
import { call } from '../api.ts'
import type { CandidateView } from '../api-types/candidate.ts'
import '../candidate/candidate.css'
import { CandidatePage } from '../candidate/main.tsx'
import { paths } from '../paths.ts'
import { texts } from './texts.ts'
import type { ViewOptions } from './view-options.ts'

/** Shows the conversation. Returns the error code if it cannot be shown. */
export async function show(root: HTMLElement, { token, language, onCompleted, onFailed }: ViewOptions) {
  const result = await call<CandidateView>(paths.candidate(token))
  if (!result.ok) return result.code
  const expiry = { text: texts[language].unsent, language, onExpired: () => onFailed('LINK_EXPIRED') }
  render(<CandidatePage token={token} initialView={result.data} onEnded={onCompleted} expiry={expiry} />, root)
  return undefined
}
