import type { EmailDetails } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import './email.css'
import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { emailKindName, emailReasonText } from '../shared/labels.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'

export default function OperatorEmail({ params }: { params: Params }) {
  const { data, error } = useData<EmailDetails>(`/operator/mails/${params.mail_id}`)
  const [shown, setShown] = useState<'text' | 'html'>('text')
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <h1 class="waiting">An email</h1>
  const reason = emailReasonText(data)
  return (
    <>
      <p>
        <Link to="/operator/mails">{t('Emails')}</Link>
      </p>
      <h1>
        {data.subject} <Badge state={data.status} />
      </h1>
      {reason && <Notice kind="wait">{reason}</Notice>}
      {data.last_error && <Notice kind="bad">{data.last_error}</Notice>}
      <DescriptionList>
        <DescriptionItem name={t('To##recipient')}>
          {data.to_name ? `${data.to_name} · ${data.to_address}` : data.to_address}
        </DescriptionItem>
        {data.replyTo && <DescriptionItem name={t('Reply to')}>{data.replyTo}</DescriptionItem>}
        <DescriptionItem name={t('Kind')}>{emailKindName(data.kind)}</DescriptionItem>
        <DescriptionItem name={t('Created')}>
          <Time at={data.created_at} />
        </DescriptionItem>
        <DescriptionItem name={t('Sent')}>
          <Time at={data.sent_at} />
        </DescriptionItem>
        {data.org_id && (
          <DescriptionItem name={t('Organisation')}>
            <Link to={`/${data.org_id}/${data.mode ?? 'test'}`}>{data.org_name ?? data.org_id}</Link>
          </DescriptionItem>
        )}
      </DescriptionList>
      <fieldset class="row email-views" aria-label={t('Show')}>
        {(['text', 'html'] as const).map((each) => (
          <button type="button" key={each} aria-pressed={shown === each} onClick={() => setShown(each)}>
            {each === 'text' ? t('Text') : t('Preview')}
          </button>
        ))}
      </fieldset>
      {shown === 'text' ? (
        <pre class="card email-text">
          {data.kind === 'sign_in' || data.kind === 'invitation' ? withCopyButtons(data.text) : withLinks(data.text)}
        </pre>
      ) : (
        // Loaded from a separate URL whose policy allows inline styles. Parts of it are user input: no scripts, no navigation.
        <>
          <iframe
            class="email-frame"
            title={t('Email: {subject}', { subject: data.subject })}
            sandbox=""
            src={`/console/api/operator/mails/${data.mail_id}/html`}
          />
          <p class="soft small">
            {t('Scripts, external images and links are disabled in the preview. Use the links in the text view.')}
          </p>
        </>
      )}
    </>
  )
}

const URLS_PATTERN = /(https?:\/\/[^\s<>"]+)/

/** Shows the URLs of a sign-in email to copy: a click would sign the operator in as the recipient, and use up the link. */
function withCopyButtons(text: string) {
  return text
    .split(URLS_PATTERN)
    .map((part, index) => (index % 2 === 1 ? <CopyText key={index} text={part} label={t('sign-in link')} /> : part))
}

/** Turns the URLs in a text into links. */
function withLinks(text: string) {
  return text.split(URLS_PATTERN).map((part, index) =>
    index % 2 === 1 ? (
      <a key={index} href={part} rel="noreferrer">
        {part}
      </a>
    ) : (
      part
    ),
  )
}
