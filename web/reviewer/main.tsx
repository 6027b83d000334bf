import { render } from 'preact'
import '../ui/base.css'
import '../ui/ending.css'
import './reviewer.css'
import { ReviewerPage } from './page.tsx'

const id = decodeURIComponent(location.pathname.split('/').pop() ?? '')
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? undefined

render(<ReviewerPage id={id} token={token} />, document.getElementById('root')!)
