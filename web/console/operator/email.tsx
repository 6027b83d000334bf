import './email.css'
import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { Fact, Facts } from '../shared/description-list.tsx'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import type { MailHead } from './emails.tsx'

interface Mail extends MailHead {
  subject: string
  text: string
  replyTo?: string | { name?: string; address: string }
}

export default function OperatorMail({ params }: { params: Params }) {
  const { data, refusal } = useData<Mail>(`/operator/mails/${params.mail_id}`)
  const [shown, setShown] = useState<'text' | 'html'>('text')
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  if (!data) return <h1 class="waiting">A mail of the server</h1>
  return (
    <>
      <p>
        <Link to="/operator/mails">Mails</Link>
      </p>
      <h1>
        {data.subject} <Badge state={data.status} />
      </h1>
      {data.last_error && <Notice kind="bad">{data.last_error}</Notice>}
      <Facts>
        <Fact name="To">{data.to_name ? `${data.to_name} · ${data.to_address}` : data.to_address}</Fact>
        {data.replyTo && (
          <Fact name="Answers to">{typeof data.replyTo === 'string' ? data.replyTo : data.replyTo.address}</Fact>
        )}
        <Fact name="Kind">{data.kind.replaceAll('_', ' ')}</Fact>
        <Fact name="Written">
          <Time at={data.created_at} />
        </Fact>
        <Fact name="Sent">
          <Time at={data.sent_at} />
        </Fact>
        {data.org_id && (
          <Fact name="Organisation">
            <Link to={`/${data.org_id}/${data.mode ?? 'test'}`}>
              <code>{data.org_id}</code>
            </Link>
          </Fact>
        )}
      </Facts>
      <fieldset class="row mail-views" aria-label="Show">
        {(['text', 'html'] as const).map((each) => (
          <button type="button" key={each} aria-pressed={shown === each} onClick={() => setShown(each)}>
            {each === 'text' ? 'Text' : 'As it looks'}
          </button>
        ))}
      </fieldset>
      {shown === 'text' ? (
        <pre class="card mail-text">{withLinks(data.text)}</pre>
      ) : (
        // An address of its own, whose policy allows the mail's styles. Strangers wrote parts of it: no scripts, no way out.
        <>
          <iframe
            class="mail-frame"
            title={`The mail: ${data.subject}`}
            sandbox=""
            src={`/console/api/operator/mails/${data.mail_id}/html`}
          />
          <p class="soft small">
            Nothing in it runs or is fetched, and its links lead nowhere here: use those in the text.
          </p>
        </>
      )}
    </>
  )
}

/** The text with its addresses to click on. */
function withLinks(text: string) {
  return text.split(/(https?:\/\/[^\s<>"]+)/).map((part, index) =>
    index % 2 === 1 ? (
      <a key={index} href={part} rel="noreferrer">
        {part}
      </a>
    ) : (
      part
    ),
  )
}
