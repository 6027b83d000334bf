import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { YourDataView } from '../api-types/candidate.ts'
import { applyBrand } from '../branding/apply-brand.ts'
import { BrandFooter, BrandName } from '../branding/brand.tsx'
import { readDraft, saveDraft } from '../drafts.ts'
import { NoticeSections } from '../privacy/notice.tsx'
import { yourDataCalls } from '../privacy/your-data-calls.ts'
import { type RequestAction, RequestForm, type RequestResult } from './request-form.tsx'

const ACTIONS: RequestAction[] = ['export', 'correct', 'withdraw', 'erase']
const LANGUAGE_DRAFT = 'notice language'

/** The page on which candidates, students and reviewers read the notice and use their rights. */
export function YourDataPage({ kind, token }: { kind: string; token: string }) {
  const calls = useMemo(() => yourDataCalls(kind, token), [])
  const [view, setView] = useState<YourDataView>()
  const [error, setError] = useState('')
  const [action, setAction] = useState<RequestAction>()
  const [result, setResult] = useState<RequestResult>()
  const status = useRef<HTMLParagraphElement>(null)
  useEffect(() => void load(readDraft<string>(LANGUAGE_DRAFT)), [])
  useEffect(() => status.current?.focus(), [result])

  if (!view) {
    return (
      <div class="sheet" key="first-load">
        <main class="stack">
          {error ? (
            <section class="card" role="alert">
              <p>{error}</p>
            </section>
          ) : (
            <h1 aria-busy="true">…</h1>
          )}
        </main>
      </div>
    )
  }
  const { texts, consent, addresses, erased } = view
  return (
    <div class="sheet">
      <header class="top">
        <BrandName brand={view.brand} />
        <select
          aria-label={texts.language}
          value={view.language}
          onChange={(event) => void chooseLanguage(event.currentTarget.value)}
        >
          {view.languages.map(({ code, name }) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </header>
      <main class="stack" lang={view.language}>
        <h1>{texts.title}</h1>
        <p class="soft" dir="auto">
          {view.notice.organisation}
        </p>
        {erased ? (
          <p class="notice" role="status">
            {texts.gone}
          </p>
        ) : (
          <>
            <section class="card">
              <NoticeSections notice={view.notice} language={view.language} />
            </section>
            {consent && (
              <p class="soft">
                {consent.withdrawn_at
                  ? texts.withdrawn!.replace('{date}', formatDate(consent.withdrawn_at, view.language))
                  : texts.agreed!.replace('{date}', formatDate(consent.given_at, view.language))}
              </p>
            )}
            {result && (
              <p class="notice good" role="status" tabIndex={-1} ref={status}>
                {result.action === 'export' ? texts.export_note : texts[`done_${result.action}`]}
              </p>
            )}
            {result?.files && <Downloads files={result.files} label={texts.download!} />}
            <section class="card stack-tight" aria-labelledby="actions-title">
              <h2 id="actions-title">{texts.actions_title}</h2>
              {addresses.length === 0 ? (
                <p>{texts.no_address}</p>
              ) : action ? (
                <RequestForm
                  key={action}
                  action={action}
                  view={view}
                  post={calls.post}
                  onCancel={() => setAction(undefined)}
                  onDone={(done) => void finish(done)}
                />
              ) : (
                <ul class="actions">
                  {ACTIONS.filter((each) => each !== 'withdraw' || !consent?.withdrawn_at).map((each) => (
                    <li key={each}>
                      <button type="button" onClick={() => setAction(each)}>
                        {texts[each]}
                      </button>
                    </li>
                  ))}
                </ul>
              )}
            </section>
          </>
        )}
      </main>
      <BrandFooter brand={view.brand} />
    </div>
  )

  async function load(language?: string) {
    const response = await calls.load(language)
    if (!response.ok) {
      setError(response.message || 'No connection. Try again later.')
      return
    }
    setView(response.data)
    applyBrand(response.data.brand)
    document.documentElement.lang = response.data.language
    document.title = response.data.texts.title!
  }

  async function chooseLanguage(language: string) {
    saveDraft(LANGUAGE_DRAFT, language)
    await load(language)
  }

  async function finish(done: RequestResult) {
    setAction(undefined)
    setResult(done)
    await load(view!.language)
  }
}

function formatDate(time: string, language: string): string {
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : `${language}-IN-u-nu-latn`, {
    dateStyle: 'long',
  }).format(new Date(time))
}

/** Links that download the exported data as a readable HTML page and as JSON. */
function Downloads({ files, label }: { files: { json: string; html: string }; label: string }) {
  const urls = useMemo(
    () => ({
      html: URL.createObjectURL(new Blob([files.html], { type: 'text/html' })),
      json: URL.createObjectURL(new Blob([files.json], { type: 'application/json' })),
    }),
    [files],
  )
  return (
    <div class="row">
      <a class="button primary" href={urls.html} download="your-data.html">
        {label} (HTML)
      </a>
      <a class="button" href={urls.json} download="your-data.json">
        {label} (JSON)
      </a>
    </div>
  )
}
