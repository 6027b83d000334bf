import { render } from 'preact'
import '../ui/base.css'
import './candidate.css'
import { CandidatePage, WrongPage } from './page.tsx'
import type { View, Wrong } from './view.ts'

const token = decodeURIComponent(location.pathname.split('/').pop() ?? '')
const first = JSON.parse(document.getElementById('state')!.textContent!) as View | Wrong

document.getElementById('outline')?.remove()
render(
  'wrong' in first ? <WrongPage {...first} /> : <CandidatePage token={token} first={first} />,
  document.getElementById('root')!,
)
