import type { CatalogueImport } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import '../../ui/chart.css'
import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { FileImportForm, uploadParameters } from '../shared/file-import-form.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { UndoImport } from './undo-import.tsx'

const POLL_INTERVAL_MS = 1000
const LIGHTCAST_NAME = 'Lightcast Open Skills'

/** Imports of taxonomy files, with their progress and outcome. */
export function Imports({ onEnded }: { onEnded: () => void }) {
  const [running, setRunning] = useState(false)
  const list = useList<CatalogueImport>('/operator/catalogue/imports?limit=10', {
    pollMs: running ? POLL_INTERVAL_MS : undefined,
  })
  const [shown, setShown] = useState<CatalogueImport>()
  const [undoing, setUndoing] = useState<CatalogueImport>()
  const [undone, setUndone] = useState<string>()
  const anyRunning = list.items?.some(({ status }) => status === 'running') ?? false
  useEffect(() => {
    if (running && !anyRunning && list.items) onEnded()
    setRunning(anyRunning)
  }, [anyRunning])
  return (
    <section class="stack" aria-label={t('Imports')}>
      <h2>{t('Imports')}</h2>
      <Upload onStarted={() => void onImportStarted()} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      {undone !== undefined && <Notice kind="good">{t('Undid the import of {file}.', { file: undone })}</Notice>}
      <Table
        caption={t('Imports, newest first')}
        rows={list.items}
        keyOf={({ import_id }) => import_id}
        loadMore={list.more}
        empty={
          <p class="soft">
            {richText('No imports yet. Upload a file above. To import ESCO or O*NET folders, use {command}.', {
              command: <code>npx attestry skills import</code>,
            })}
          </p>
        }
        columns={[
          {
            name: t('Started'),
            cell: ({ started_at, started_by }) => (
              <>
                <Time at={started_at} />
                <br />
                <span class="soft small">{started_by}</span>
              </>
            ),
          },
          {
            name: t('File'),
            cell: ({ file_name, format, dry_run }) => (
              <>
                {file_name} <span class="soft small">{dry_run ? t('{format}, dry run', { format }) : format}</span>
              </>
            ),
          },
          {
            name: t('Status'),
            cell: (each) => (
              <>
                <Badge state={stateOf(each)} />{' '}
                {each.undone_at && (
                  <>
                    <br />
                    <span class="soft small">
                      {each.undone_by}, <Time at={each.undone_at} />
                    </span>
                  </>
                )}
                {each.can_undo && (
                  <button
                    type="button"
                    aria-label={t('Undo the import of {file}', { file: nameOf(each) })}
                    onClick={() => setUndoing(each)}
                  >
                    {t('Undo…')}
                  </button>
                )}
              </>
            ),
          },
          {
            name: t('Progress'),
            cell: ({ dry_run, of: total, written }) =>
              dry_run || total === 0 ? '–' : <ImportProgress total={total} written={written} />,
          },
          {
            name: t('Outcome'),
            cell: (each) =>
              each.error ? (
                <span class="bad-text">{each.error}</span>
              ) : each.summary ? (
                <button
                  type="button"
                  class="plain flush"
                  aria-label={`${countsText(each.summary)}: ${each.file_name}`}
                  onClick={() => setShown(each)}
                >
                  {countsText(each.summary)}
                </button>
              ) : (
                '–'
              ),
          },
        ]}
      />
      <p class="soft small">
        {t('The latest import can be undone, then the one before it, as long as the previous values are stored.')}
      </p>
      {undoing && (
        <UndoImport
          row={undoing}
          onClose={() => setUndoing(undefined)}
          onUndone={() => void onUndone(nameOf(undoing))}
        />
      )}
      {shown && (
        <Dialog title={shown.file_name} onClose={() => setShown(undefined)}>
          <pre class="json">{JSON.stringify(shown.summary, null, 2)}</pre>
        </Dialog>
      )}
    </section>
  )

  async function onUndone(file: string) {
    setUndoing(undefined)
    setUndone(file)
    onEnded()
    await list.reload()
  }

  async function onImportStarted() {
    setUndone(undefined)
    setRunning(true)
    await list.reload()
  }
}

function stateOf({ status, dry_run, undone_at }: CatalogueImport): string {
  if (undone_at) return 'undone'
  if (status !== 'done') return status
  return dry_run ? 'checked' : 'completed'
}

function nameOf({ file_name, format }: CatalogueImport): string {
  return file_name || format
}

function ImportProgress({ total, written }: { total: number; written: number }) {
  const widthPercent = total === 0 ? 0 : (100 * written) / total
  return (
    <>
      <svg class="import-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <rect class="chart-ground" width="100" height="1" />
        <rect class="chart-good" width={widthPercent} height="1" />
      </svg>
      <span class="soft small">
        {t('{written} of {total}', {
          written: written.toLocaleString(displayLocale()),
          total: total.toLocaleString(displayLocale()),
        })}
      </span>
    </>
  )
}

/** Labels of the counts in the summary of an import. */
const COUNT_LABELS: Record<string, (count: string) => string> = {
  rows: (count) => t('rows: {count}', { count }),
  added: (count) => t('added: {count}', { count }),
  changed: (count) => t('changed: {count}', { count }),
  merged: (count) => t('merged: {count}', { count }),
  refused: (count) => t('rejected: {count}', { count }),
  unchanged: (count) => t('unchanged: {count}', { count }),
  new_master_skills: (count) => t('new master skills: {count}', { count }),
  new_sub_skills: (count) => t('new sub-skills: {count}', { count }),
}

function countsText(summary: Record<string, unknown>): string {
  const counts = Object.entries(COUNT_LABELS).flatMap(([name, label]) => {
    const count = summary[name]
    return typeof count === 'number' && count > 0 ? [label(count.toLocaleString(displayLocale()))] : []
  })
  return counts.join(', ') || t('no changes')
}

function Upload({ onStarted }: { onStarted: () => void }) {
  const [format, setFormat] = useState('csv')
  const [error, setError] = useState<ApiError>()
  return (
    <>
      <FileImportForm<CatalogueImport>
        name={t('Import a taxonomy')}
        fileLabel={t('File (up to 64 MB)')}
        accept=".csv,.json,.txt"
        upload={(file, dryRun) => {
          const query = new URLSearchParams({ format, ...uploadParameters(file, dryRun) })
          return api(`/operator/catalogue/imports?${query}`, { file })
        }}
        onSelect={() => setError(undefined)}
        onResponse={(response) => {
          setError(response.ok ? undefined : response.error)
          if (response.ok) onStarted()
        }}
      >
        <label>
          {t('Format')}
          <select value={format} onChange={(event) => setFormat(event.currentTarget.value)}>
            <option value="csv">CSV</option>
            <option value="lightcast">{LIGHTCAST_NAME}</option>
          </select>
        </label>
      </FileImportForm>
      {error && <Notice kind="bad">{error.message}</Notice>}
    </>
  )
}
