import { render } from 'preact'
import type { VerificationSession } from '../api-types/verification.ts'
import { paths } from '../paths.ts'
import '../ui/ending.css'
import '../ui/summary.css'
import '../student/student.css'
import { StudentPage } from '../student/page.tsx'
import { sessionCalls } from '../student/session.ts'
import type { ViewOptions } from './view-options.ts'

/** Shows the page of a student. Returns the error code if it cannot be shown. */
export async function show(root: HTMLElement, { token, language, onCompleted }: ViewOptions) {
  const result = await sessionCalls(token)<VerificationSession>(paths.session(token))
  if (!result.ok) return result.code
  render(
    <StudentPage token={token} initialSession={result.data} startLanguage={language} onEnded={onCompleted} />,
    root,
  )
  return undefined
}
