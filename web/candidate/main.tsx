import { render } from 'preact'
import type { CandidatePageError, CandidateView } from '../api-types/candidate.ts'
import '../ui/base.css'
import './candidate.css'
import { CandidatePage, InvalidLinkPage } from './page.tsx'

// The embedded page imports this file, too: a separate file of the shared parts would be one more request of this page.
export { CandidatePage }

const stateElement = document.getElementById('state')
if (stateElement) showPage(JSON.parse(stateElement.textContent!))

function showPage(initialState: CandidateView | CandidatePageError): void {
  const token = decodeURIComponent(location.pathname.split('/').pop() ?? '')
  document.getElementById('preview')?.remove()
  render(
    'wrong' in initialState ? (
      <InvalidLinkPage token={token} {...initialState} />
    ) : (
      <CandidatePage token={token} initialView={initialState} />
    ),
    document.getElementById('root')!,
  )
}
