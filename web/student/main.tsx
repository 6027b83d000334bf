import { render } from 'preact'
import '../ui/base.css'
import '../ui/ending.css'
import './student.css'
import { StudentPage } from './page.tsx'

const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''

render(<StudentPage token={token} />, document.getElementById('root')!)
