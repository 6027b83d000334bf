import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiResult } from '../api.ts'
import type { YourDataView } from '../api-types/candidate.ts'
import { NoticeSections } from './notice.tsx'
import { type SubjectKind, yourDataCalls, yourDataUrl } from './your-data-calls.ts'

interface Props {
  kind: SubjectKind
  token: string
  language: string
  /** Called when the person has agreed, now or before. */
  onAgreed: () => void
  /** Returns the text to show if the notice cannot be loaded, or the consent cannot be stored. */
  describeError: (error: ApiFailure) => string
  retryLabel: string
  /** Shown above the notice. Contains the heading of the page. */
  children?: ComponentChildren
}

type ApiFailure = Extract<ApiResult<unknown>, { ok: false }>

/**
 * Shows the notice, and asks the person to agree before the page continues. The notice starts in the language of the page, and can be read
 * in further languages.
 */
export function ConsentCard({ kind, token, language, onAgreed, describeError, retryLabel, children }: Props) {
  const [view, setView] = useState<YourDataView>()
  const [noticeLanguage, setNoticeLanguage] = useState(language)
  const [error, setError] = useState('')
  const calls = yourDataCalls(kind, token)
  const Heading = children ? 'h2' : 'h1'
  useEffect(() => setNoticeLanguage(language), [language])
  useEffect(() => void load(), [noticeLanguage])
  if (!view)
    return error ? (
      <section class="card stack-tight" role="alert">
        <p>{error}</p>
        <button type="button" onClick={() => void load()}>
          {retryLabel}
        </button>
      </section>
    ) : (
      <section class="card first-load" aria-hidden="true">
        <h1 class="waiting">Your data and your rights</h1>
      </section>
    )
  return (
    <>
      {children}
      <section class="card stack" key="notice" aria-labelledby="notice-title">
        <Heading class="notice-title" id="notice-title" lang={view.language}>
          {view.texts.title}
        </Heading>
        <NoticeLanguage view={view} onChoose={setNoticeLanguage} />
        <NoticeSections notice={view.notice} language={view.language} />
        {error && (
          <p class="notice bad" role="alert">
            {error}
          </p>
        )}
        <button type="button" class="primary" lang={view.language} onClick={() => void agree()}>
          {view.texts.agree}
        </button>
      </section>
    </>
  )

  async function load() {
    setError('')
    const result = await calls.load(noticeLanguage)
    if (!result.ok) setError(describeError(result))
    else if (result.data.erased || isAgreed(result.data)) onAgreed()
    else setView(result.data)
  }

  async function agree() {
    setError('')
    const result = await calls.agree(noticeLanguage)
    if (result.ok) onAgreed()
    else setError(describeError(result))
  }
}

/** Chooses the language of the notice. */
function NoticeLanguage({ view, onChoose }: { view: YourDataView; onChoose: (language: string) => void }) {
  return (
    <select
      aria-label={view.texts.title}
      value={view.language}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      {view.languages.map(({ code, name }) => (
        <option key={code} value={code} lang={code}>
          {name}
        </option>
      ))}
    </select>
  )
}

function isAgreed({ consent, notice }: YourDataView): boolean {
  return consent !== null && consent.withdrawn_at === null && consent.version === notice.version
}

/** Links to the page about personal data. */
export function YourDataLink({ kind, token, label }: { kind: SubjectKind; token: string; label: string }) {
  return (
    <a class="small" href={yourDataUrl(kind, token)}>
      {label}
    </a>
  )
}

/** The notice, closed at first and loaded when it is opened, with the link to the page about personal data. */
export function NoticeDetails({
  kind,
  token,
  language,
  label,
}: Pick<Props, 'kind' | 'token' | 'language'> & { label: string }) {
  const [view, setView] = useState<YourDataView>()
  useEffect(() => setView(undefined), [language])
  return (
    <details class="card" onToggle={(event) => event.currentTarget.open && void load(language)}>
      <summary>{label}</summary>
      {view && (
        <>
          <NoticeLanguage view={view} onChoose={(chosen) => void load(chosen)} />
          <NoticeSections notice={view.notice} language={view.language} />
        </>
      )}
      <p>
        <YourDataLink kind={kind} token={token} label={label} />
      </p>
    </details>
  )

  async function load(chosen: string) {
    const result = await yourDataCalls(kind, token).load(chosen)
    if (result.ok) setView(result.data)
  }
}
