import { render } from 'preact'
import '../ui/ending.css'
import '../ui/summary.css'
import '../student/student.css'
import { StudentPage } from '../student/page.tsx'
import type { ViewOptions } from './view-options.ts'

/** Shows the page of a student, which explains its errors itself. */
export async function show(root: HTMLElement, { token, language, onCompleted }: ViewOptions) {
  render(<StudentPage token={token} startLanguage={language} onEnded={onCompleted} />, root)
  return undefined
}
