import { render } from 'preact'
import type { CandidatePageError, CandidateView } from '../api-types/candidate.ts'
import '../ui/base.css'
import './candidate.css'
import { CandidatePage, InvalidLinkPage } from './page.tsx'

const token = decodeURIComponent(location.pathname.split('/').pop() ?? '')
const first = JSON.parse(document.getElementById('state')!.textContent!) as CandidateView | CandidatePageError

document.getElementById('preview')?.remove()
render(
  'wrong' in first ? <InvalidLinkPage {...first} /> : <CandidatePage token={token} first={first} />,
  document.getElementById('root')!,
)
