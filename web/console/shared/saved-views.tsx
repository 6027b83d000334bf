import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { SavedView, SavedViewList, ViewPage } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import './saved-views.css'

interface BuiltInViewProps {
  page: ViewPage
  query: string
  children: ComponentChildren
}

/** A link to filters that everybody has. */
export function BuiltInView({ page, query, children }: BuiltInViewProps) {
  const context = useOrgContext()
  const address = useAddress()
  return (
    <Link
      class="view-link"
      to={context.pagePath(`/${page}?${query}`)}
      current={sorted(address.query.toString()) === sorted(query)}
    >
      {children}
    </Link>
  )
}

interface SavedViewsProps {
  page: ViewPage
  /** The built-in views. */
  children?: ComponentChildren
}

/** Links to the saved filters of a page, and a button to save the current ones for the team. */
export function SavedViews({ page, children }: SavedViewsProps) {
  const context = useOrgContext()
  const { query } = useAddress()
  const path = `/orgs/${context.org.org_id}/views`
  const { data, reload } = useData<SavedViewList>(`${path}?page=${page}`)
  const [isSaving, setIsSaving] = useState(false)
  const [deleting, setDeleting] = useState<SavedView>()
  const [error, setError] = useState<ApiError>()
  const currentQuery = sorted(query.toString())
  const current = data?.items.find((view) => sorted(view.query) === currentQuery)
  const canSave = context.can('recruiter') && currentQuery !== '' && !current
  // Always shown, so that the list does not move when the views are loaded.
  return (
    <nav class="saved-views row small" aria-label={t('Saved views')}>
      <Link class="view-link" to={context.pagePath(`/${page}`)} current={currentQuery === ''}>
        {t('All')}
      </Link>
      {children}
      {data?.items.map((view) => (
        <Link
          key={view.view_id}
          class="view-link"
          to={context.pagePath(`/${page}${view.query && `?${view.query}`}`)}
          current={view === current}
        >
          {view.name}
        </Link>
      ))}
      {current && context.can('recruiter') && (
        <button type="button" class="plain flush small" onClick={() => setDeleting(current)}>
          {t('Delete view')}
        </button>
      )}
      {canSave && (
        <button type="button" class="plain flush small" onClick={() => setIsSaving(true)}>
          {t('Save view')}
        </button>
      )}
      {error && <Notice kind="bad">{error.message}</Notice>}
      {isSaving && (
        <SaveView
          save={(name) => api(path, { body: { page, name, query: query.toString() } })}
          onClose={() => setIsSaving(false)}
          onSaved={() => {
            setIsSaving(false)
            void reload()
          }}
        />
      )}
      {deleting && (
        <Dialog title={t('Delete the view “{name}”?', { name: deleting.name })} onClose={() => setDeleting(undefined)}>
          <p>{t('It is deleted for your whole team. The candidates stay.')}</p>
          <button type="button" class="danger" onClick={() => void deleteView(deleting)}>
            {t('Delete view')}
          </button>
        </Dialog>
      )}
    </nav>
  )

  async function deleteView({ view_id }: SavedView) {
    const response = await api(`${path}/${view_id}`, { method: 'DELETE' })
    setError(response.ok ? undefined : response.error)
    setDeleting(undefined)
    await reload()
  }
}

/** Returns a query string with its parameters in order, to compare it with another. */
function sorted(query: string): string {
  const parameters = new URLSearchParams(query)
  parameters.sort()
  return parameters.toString()
}

interface SaveViewProps {
  save: (name: string) => ReturnType<typeof api>
  onClose: () => void
  onSaved: () => void
}

function SaveView({ save, onClose, onSaved }: SaveViewProps) {
  const [name, setName] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  return (
    <Dialog title={t('Save view')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={async (event) => {
          event.preventDefault()
          setBusy(true)
          const response = await save(name.trim())
          setBusy(false)
          if (!response.ok) return setError(response.error)
          onSaved()
        }}
      >
        {error && <Notice kind="bad">{error.message}</Notice>}
        <label>
          {t('Name')}
          <input
            type="text"
            required
            maxLength={60}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <p class="soft small">{t('Saves the current filters and sort order for your whole team.')}</p>
        <SubmitButton class="primary" busy={busy} ready={name.trim() !== ''}>
          {t('Save view')}
        </SubmitButton>
      </form>
    </Dialog>
  )
}
