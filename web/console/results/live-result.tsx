import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Notice } from '../../ui/notice.tsx'
import type { Result } from '../shared/records.ts'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { useJob } from './asked-questions.ts'
import { Outcome, ResultOutput } from './result-output.tsx'
import './results.css'
import './live-result.css'

const SOON = 1200

interface Props {
  resultId: string
  turn: number
  /** What stands below: it comes with the result, whose height nobody knows before. */
  children?: ComponentChildren
}

/** A result while it comes into being; what has changed lights up. */
export function LiveResult({ resultId, turn, children }: Props) {
  const place = usePlace()
  const [open, setOpen] = useState(true)
  const { data, refusal, reload } = useData<Result>(place.at(`/results/${resultId}`), {
    every: open ? SOON : undefined,
  })
  const { questions, ready } = useJob(data)
  useEffect(() => setOpen(data === undefined || data.status === 'pending'), [data?.status])
  useEffect(() => void reload(), [turn])
  const text = data && JSON.stringify([data.status, data.output])
  const first = useRef(text)
  first.current ??= text
  const below = ((data && ready) || refusal) && children
  return (
    <>
      <section class="card stack live-result" aria-label="Result" aria-live="polite">
        <div class="row between">
          <h2>The result</h2>
          {data && <Outcome result={data} />}
        </div>
        {refusal && <Notice kind="bad">{refusal.message}</Notice>}
        {data && ready ? (
          <div key={text} class={text === first.current ? '' : 'lit'}>
            <ResultOutput result={data} questions={questions} />
          </div>
        ) : (
          !refusal && (
            <p class="waiting" aria-hidden="true">
              Answers and verdicts
            </p>
          )
        )}
        <p class="soft small">
          This is what your system receives, by webhook or by <code>GET /results</code>.{' '}
          <Link to={place.go(`/results/${resultId}`)}>All of it</Link>
        </p>
      </section>
      {below}
    </>
  )
}
