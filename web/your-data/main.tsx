import { render } from 'preact'
import '../ui/base.css'
import '../ui/parts.css'
import './your-data.css'
import { takeLinkToken } from '../link-token.ts'
import { YourDataPage } from './page.tsx'

const kind = location.pathname.split('/').pop() ?? ''

render(<YourDataPage kind={kind} token={takeLinkToken() ?? ''} />, document.getElementById('root')!)
