import { useState } from 'preact/hooks'
import type { MessageTemplate, MessageTemplateExport, MessageTemplateList } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { FileImportForm } from '../shared/file-import-form.tsx'
import { channelName, languageName } from '../shared/labels.ts'
import { saveFile } from '../shared/save-file.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'
import { TemplateDialog } from './template-dialog.tsx'

const PURPOSE_NAMES: Record<MessageTemplate['purpose'], string> = {
  invitation: t('First message'),
  follow_up: t('Other follow-ups'),
  follow_up_1: t('Follow-up 1'),
  follow_up_2: t('Follow-up 2'),
  follow_up_3: t('Follow-up 3'),
  follow_up_4: t('Follow-up 4'),
  follow_up_5: t('Follow-up 5'),
  follow_up_requested: t('Requested contact'),
  code: t('Confirmation code'),
  review_request: t('Review request'),
  review_reminder: t('Review reminder'),
}

const QUALITY_NAMES: Record<string, string> = { green: t('green'), yellow: t('yellow'), red: t('red') }

function templateTitle({ channel, purpose, language }: MessageTemplate): string {
  return `${channelName(channel)}, ${PURPOSE_NAMES[purpose].toLowerCase()}, ${languageName(language)}`
}

/** The LIVE texts that are registered on a DLT portal or at WhatsApp. Owners change them, and import the IDs of a portal. */
export function Templates({ onChanged }: { onChanged: () => void }) {
  const context = useOrgContext()
  const path = `/orgs/${context.org.org_id}/live/templates`
  const { data, error, reload } = useData<MessageTemplateList>(path)
  const [edited, setEdited] = useState<MessageTemplate>()
  const isOwner = context.can('owner')
  const channels = [...new Set(data?.items.map(({ channel }) => channel))]
  const showChange = () => {
    void reload()
    onChanged()
  }
  return (
    <>
      <p class="soft">
        {t(
          'WhatsApp and mobile operators in India accept only approved texts. Register the texts there; until a text is approved, it is not used.',
        )}
      </p>
      {error && <Notice kind="bad">{error.message}</Notice>}
      {channels.length > 0 && (
        <div class="row">
          {channels.map((channel) => (
            <ExportButton key={channel} path={path} channel={channel} />
          ))}
        </div>
      )}
      <Table
        caption={t('Registered texts')}
        rows={data?.items}
        keyOf={templateKey}
        empty={
          <p class="soft">
            {t('No texts yet. The operator creates them with the command “attestry channels templates create”.')}
          </p>
        }
        columns={[
          { name: t('Channel'), cell: ({ channel }) => channelName(channel) },
          { name: t('Message'), cell: ({ purpose }) => PURPOSE_NAMES[purpose] },
          { name: t('Language'), cell: ({ language }) => languageName(language) },
          { name: t('Status'), cell: (template) => <Status template={template} /> },
          { name: 'ID', cell: ({ registry_id }) => registry_id ?? '–' },
          { name: t('Text'), cell: ({ text }) => text },
          ...(isOwner
            ? [
                {
                  name: t('Change'),
                  cell: (template: MessageTemplate) => (
                    <button
                      type="button"
                      aria-label={t('Edit {template}', { template: templateTitle(template) })}
                      onClick={() => setEdited(template)}
                    >
                      {t('Edit')}
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {isOwner && channels.includes('sms') && <ImportIds path={path} onImported={showChange} />}
      {edited && (
        <TemplateDialog
          key={templateKey(edited)}
          path={`${path}/${edited.channel}/${edited.purpose}/${edited.language}`}
          title={templateTitle(edited)}
          template={edited}
          onClose={() => setEdited(undefined)}
          onSaved={showChange}
        />
      )}
    </>
  )
}

function templateKey({ channel, purpose, language }: MessageTemplate): string {
  return `${channel} ${purpose} ${language}`
}

function Status({ template: { status, status_reason, quality } }: { template: MessageTemplate }) {
  const notes = [
    status_reason,
    quality && t('quality: {quality}', { quality: QUALITY_NAMES[quality] ?? quality }),
  ].filter(Boolean)
  return (
    <>
      <Badge state={status} /> {notes.length > 0 && <span class="soft small">{notes.join(', ')}</span>}
    </>
  )
}

function ExportButton({ path, channel }: { path: string; channel: MessageTemplate['channel'] }) {
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  return (
    <>
      <SubmitButton type="button" busy={busy} onClick={() => void download()}>
        {t('Export {channel} texts', { channel: channelName(channel) })}
      </SubmitButton>
      {error && <Notice kind="bad">{error.message}</Notice>}
    </>
  )

  async function download() {
    setBusy(true)
    const response = await api<MessageTemplateExport>(`${path}/export/${channel}`)
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    if (!response.ok) return
    const { file_name, content } = response.data
    saveFile(file_name, new Blob([content], { type: channel === 'sms' ? 'text/csv' : 'application/json' }))
  }
}

/** Imports the IDs that a DLT portal assigned. */
function ImportIds({ path, onImported }: { path: string; onImported: () => void }) {
  const [error, setError] = useState<ApiError>()
  const [done, setDone] = useState('')
  return (
    <section class="stack" aria-label={t('Import of IDs')}>
      <FileImportForm<MessageTemplateList>
        name={t('Import IDs of SMS texts')}
        fileLabel={t('CSV file of the DLT portal, with the columns Template Name and Template ID')}
        accept=".csv"
        upload={async (file, dryRun) =>
          api<MessageTemplateList>(`${path}/import`, { body: { csv: await file.text() }, dryRun })
        }
        onSelect={() => {
          setError(undefined)
          setDone('')
        }}
        onResponse={(response, dryRun) => {
          setError(response.ok ? undefined : response.error)
          if (!response.ok) return setDone('')
          const { length } = response.data.items
          setDone(dryRun ? checkedText(length) : importedText(length))
          if (!dryRun) onImported()
        }}
      />
      {done && <Notice kind="good">{done}</Notice>}
      {error && (
        <Notice kind="bad">
          {error.details.length === 0
            ? error.message
            : error.details.map((detail) => `${detail.path} ${detail.message}`).join('. ')}
        </Notice>
      )}
    </section>
  )
}

function checkedText(count: number): string {
  return count === 1
    ? t('The file has no errors. It has the IDs or the status of 1 text.')
    : t('The file has no errors. It has the IDs or the status of {count} texts.', { count })
}

function importedText(count: number): string {
  return count === 1
    ? t('Imported the IDs or the status of 1 text.')
    : t('Imported the IDs or the status of {count} texts.', { count })
}
