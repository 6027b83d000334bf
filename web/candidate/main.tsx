import { render } from 'preact'
import type { CandidatePageError, CandidateView } from '../api-types/candidate.ts'
import '../ui/base.css'
import './candidate.css'
import { CandidatePage, InvalidLinkPage } from './page.tsx'

const token = decodeURIComponent(location.pathname.split('/').pop() ?? '')
const initialState = JSON.parse(document.getElementById('state')!.textContent!) as CandidateView | CandidatePageError

document.getElementById('preview')?.remove()
render(
  'wrong' in initialState ? (
    <InvalidLinkPage token={token} {...initialState} />
  ) : (
    <CandidatePage token={token} initialView={initialState} />
  ),
  document.getElementById('root')!,
)
