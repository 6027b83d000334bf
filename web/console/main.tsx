import { render } from 'preact'
import '../ui/base.css'
import '../ui/parts.css'
import './console.css'
import { loadTexts } from '../translations/load.ts'

void start()

/** Imports the console only after its texts are loaded, because some modules translate texts when they are imported. */
async function start() {
  await loadTexts()
  const [{ Console }, { applyTheme }] = await Promise.all([import('./shell/console.tsx'), import('./shell/theme.tsx')])
  applyTheme()
  render(<Console />, document.getElementById('root')!)
}
