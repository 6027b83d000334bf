import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Result } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { useResultMandate } from './result-mandate.ts'
import { Outcome, ResultOutput } from './result-output.tsx'
import './results.css'
import './live-result.css'

const POLL_INTERVAL_MS = 1200

interface Props {
  resultId: string
  /** Number of messages in the conversation. The result is reloaded when it changes. */
  messageCount: number
  /** Content to show below the result. It is shown after the result has loaded, so that it does not move. */
  children?: ComponentChildren
}

/** A result that updates during the conversation and highlights changes. */
export function LiveResult({ resultId, messageCount, children }: Props) {
  const context = useOrgContext()
  const [isPending, setIsPending] = useState(true)
  const { data, error, reload } = useData<Result>(context.apiPath(`/results/${resultId}`), {
    pollMs: isPending ? POLL_INTERVAL_MS : undefined,
  })
  const { questions, ready } = useResultMandate(data)
  useEffect(() => setIsPending(data === undefined || data.status === 'pending'), [data?.status])
  useEffect(() => void reload(), [messageCount])
  const resultText = data && JSON.stringify([data.status, data.output])
  const initialText = useRef(resultText)
  initialText.current ??= resultText
  const contentBelow = ((data && ready) || error) && children
  return (
    <>
      <section class="card stack live-result" aria-label={t('Result')} aria-live="polite">
        <div class="row between">
          <h2>{t('Result')}</h2>
          {data && <Outcome result={data} />}
        </div>
        {error && <Notice kind="bad">{error.message}</Notice>}
        {data && ready ? (
          <div key={resultText} class={resultText === initialText.current ? '' : 'highlight'}>
            <ResultOutput result={data} questions={questions} />
          </div>
        ) : (
          !error && (
            <p class="waiting" aria-hidden="true">
              Answers and verdicts
            </p>
          )
        )}
        <p class="soft small">
          {richText('Your system receives this result by webhook or with {code}. <link>View the full result</link>', {
            code: <code>GET /results</code>,
            link: (words) => <Link to={context.pagePath(`/results/${resultId}`)}>{words}</Link>,
          })}
        </p>
      </section>
      {contentBelow}
    </>
  )
}
