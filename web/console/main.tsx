import { render } from 'preact'
import '../ui/base.css'
import '../ui/parts.css'
import './console.css'
import { loadTexts } from '../translations/load.ts'
import { applyTheme } from './shell/theme.ts'

applyTheme()
void start()

/** Imports the console only after its texts are loaded, because some modules translate texts when they are imported. */
async function start() {
  await loadTexts()
  const { Console } = await import('./shell/console.tsx')
  render(<Console />, document.getElementById('root')!)
}
