import { render } from 'preact'
import '../ui/base.css'
import './try-request.css'
import { TryRequestPage } from './page.tsx'

render(<TryRequestPage />, document.getElementById('root')!)
