import { render } from 'preact'
import '../ui/base.css'
import '../ui/parts.css'
import './console.css'
import { Console } from './shell/console.tsx'
import { applyTheme } from './shell/theme.tsx'

applyTheme()
render(<Console />, document.getElementById('root')!)
