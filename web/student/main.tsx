import { render } from 'preact'
import { takeLinkToken } from '../link-token.ts'
import '../ui/base.css'
import '../ui/ending.css'
import '../ui/summary.css'
import './student.css'
import { StudentPage } from './page.tsx'

render(<StudentPage token={takeLinkToken() ?? ''} />, document.getElementById('root')!)
