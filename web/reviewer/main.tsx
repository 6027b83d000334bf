import { render } from 'preact'
import { takeLinkToken } from '../link-token.ts'
import '../ui/base.css'
import '../ui/ending.css'
import '../ui/summary.css'
import './reviewer.css'
import { ReviewerPage } from './page.tsx'

const id = decodeURIComponent(location.pathname.split('/').pop() ?? '')

render(<ReviewerPage id={id} token={takeLinkToken()} />, document.getElementById('root')!)
