import { render } from 'preact'
import type { EmbedSettings } from '../api-types/candidate.ts'
import { initialLanguage } from '../languages.ts'
import '../ui/base.css'
import './embed.css'
import { openFrame } from './frame-messages.ts'
import { EmbedError, Loading } from './notices.tsx'
import { openPage } from './opened-page.ts'
import type { ShowView } from './view-options.ts'

// A view is loaded only if it is shown. In a function with several imports, the bundler would load the style sheets of one of them only.
const views = {
  candidate: () => import('./candidate-view.tsx'),
  student: () => import('./student-view.tsx'),
  report: () => import('./report-view.tsx'),
}

const settings = JSON.parse(document.getElementById('embed')!.textContent!) as EmbedSettings
const root = document.getElementById('root')!
const frame = openFrame(settings.origin, root)

const language = settings.language ?? initialLanguage()
document.documentElement.lang = language
void start()

/** Opens the page and shows its view, whose code is loaded meanwhile. */
async function start(): Promise<void> {
  if (!frame) {
    history.replaceState(null, '', location.pathname) // removes the token
    return render(<EmbedError code="NOT_EMBEDDED" language={language} />, root)
  }
  render(<Loading language={language} />, root)
  const { send } = frame
  const view: Promise<{ show: ShowView }> = views[settings.view]()
  const opened = await openPage()
  if (!opened.ok) return fail(opened.code)
  const options = {
    token: opened.data,
    language,
    onCompleted: (status: string) => send({ type: 'completed', status }),
    onFailed: (code: string) => send({ type: 'failed', code }),
  }
  const failure = await view.then(({ show }) => show(root, options)).catch(() => 'UNEXPECTED')
  if (failure !== undefined) return fail(failure)
  send({ type: 'ready' })
}

function fail(code: string): void {
  render(<EmbedError code={code} language={language} />, root)
  frame!.send({ type: 'failed', code })
}
