import { Action } from '../../ui/action.tsx'
import '../../ui/chart.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'

interface Import {
  import_id: string
  format: string
  file_name: string
  dry_run: boolean
  status: 'running' | 'done' | 'failed'
  written: number
  of: number
  summary: Record<string, unknown> | null
  error: string | null
  started_by: string
  started_at: string
  ended_at: string | null
}

/** Taxonomies handed in as files: how far the one is that runs, and what became of the others. */
export function Imports({ onEnded }: { onEnded: () => void }) {
  const [running, setRunning] = useState(false)
  const list = useList<Import>('/operator/catalogue/imports?limit=10', { every: running ? 1000 : undefined })
  const [shown, setShown] = useState<Import>()
  const runs = list.items?.some(({ status }) => status === 'running') ?? false
  useEffect(() => {
    if (running && !runs && list.items) onEnded()
    setRunning(runs)
  }, [runs])
  return (
    <section class="stack" aria-label="Imports">
      <h2>Imports</h2>
      <Upload onBegun={() => void begun()} />
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Imports, newest first"
        rows={list.items}
        keyOf={({ import_id }) => import_id}
        more={list.more}
        empty={
          <p class="soft">
            Nothing was handed in here yet. ESCO and O*NET come as folders: <code>npx attestry skills import</code>.
          </p>
        }
        columns={[
          { name: 'Started', cell: ({ started_at }) => <Time at={started_at} /> },
          {
            name: 'File',
            cell: ({ file_name, format, dry_run }) => (
              <>
                {file_name}{' '}
                <span class="soft small">
                  {format}
                  {dry_run && ', tried only'}
                </span>
              </>
            ),
          },
          {
            name: 'Status',
            cell: ({ status, dry_run }) => (
              <Badge state={status === 'done' ? (dry_run ? 'tried' : 'completed') : status} />
            ),
          },
          {
            name: 'Progress',
            cell: ({ dry_run, of, written }) => (dry_run ? '–' : <ImportProgress of={of} written={written} />),
          },
          {
            name: 'Outcome',
            cell: (each) =>
              each.error ? (
                <span class="bad-text">{each.error}</span>
              ) : each.summary ? (
                <button
                  type="button"
                  class="plain flush"
                  aria-label={`${counts(each.summary)}: ${each.file_name}`}
                  onClick={() => setShown(each)}
                >
                  {counts(each.summary)}
                </button>
              ) : (
                '–'
              ),
          },
        ]}
      />
      {shown && (
        <Dialog title={shown.file_name} onClose={() => setShown(undefined)}>
          <pre class="json">{JSON.stringify(shown.summary, null, 2)}</pre>
        </Dialog>
      )}
    </section>
  )

  async function begun() {
    setRunning(true)
    await list.reload()
  }
}

function ImportProgress({ of, written }: { of: number; written: number }) {
  const width = of === 0 ? 0 : (100 * written) / of
  return (
    <>
      <svg class="import-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <rect class="chart-ground" width="100" height="1" />
        <rect class="chart-good" width={width} height="1" />
      </svg>
      <span class="soft small">
        {written.toLocaleString()} of {of.toLocaleString()}
      </span>
    </>
  )
}

function counts(summary: Record<string, unknown>): string {
  const numbers = Object.entries(summary).filter(
    ([name, value]) => name !== 'version' && typeof value === 'number' && value > 0,
  )
  return numbers.map(([name, value]) => `${(value as number).toLocaleString()} ${name}`).join(', ') || 'no change'
}

function Upload({ onBegun }: { onBegun: () => void }) {
  const [format, setFormat] = useState('csv')
  const [file, setFile] = useState<File>()
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  return (
    <form class="card import-form" aria-label="Import a taxonomy" onSubmit={(event) => event.preventDefault()}>
      <label>
        File (up to 64 MB)
        <input
          ref={input}
          type="file"
          accept=".csv,.json,.txt"
          onChange={(event) => setFile(event.currentTarget.files?.[0])}
        />
      </label>
      <label>
        Format
        <select value={format} onChange={(event) => setFormat(event.currentTarget.value)}>
          <option value="csv">Our CSV</option>
          <option value="lightcast">Lightcast Open Skills</option>
        </select>
      </label>
      <div class="row">
        <Action type="button" busy={busy} ready={Boolean(file)} onClick={() => void send(true)}>
          Try it
        </Action>
        <Action type="button" class="primary" busy={busy} ready={Boolean(file)} onClick={() => void send(false)}>
          Import
        </Action>
      </div>
      {refusal && <Notice kind="bad">{refusal.message}</Notice>}
    </form>
  )

  async function send(dryRun: boolean) {
    setBusy(true)
    const query = new URLSearchParams({ format, file_name: file!.name.slice(-200), dry_run: String(dryRun) })
    const answer = await api<Import>(`/operator/catalogue/imports?${query}`, { file: file! })
    setBusy(false)
    setRefusal(answer.ok ? undefined : answer.refusal)
    if (!answer.ok) return
    if (!dryRun && input.current) {
      input.current.value = ''
      setFile(undefined)
    }
    onBegun()
  }
}
