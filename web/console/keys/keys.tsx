import { useState } from 'preact/hooks'
import type { ApiKey, ApiKeyList as KeyList } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { MODE_NAMES } from '../shared/mode-names.ts'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'
import { AllowedAddresses } from './allowed-addresses.tsx'
import { EmbedOrigins } from './embed-origins.tsx'
import { CreateKey, KeySecret, type KeyWithSecret, RotateKey } from './key-forms.tsx'
import { KeyLimits } from './key-limits.tsx'
import { keyLabel, RenameKey } from './key-name.tsx'

type OpenDialog = { kind: 'rename' | 'limits' | 'addresses' | 'rotate' | 'revoke'; key: ApiKey }

const EXPIRES_SOON_MS = 30 * 24 * 60 * 60 * 1000

export default function Keys() {
  const context = useOrgContext()
  const path = context.apiPath('/keys')
  const list = useData<KeyList>(path)
  const [creating, setCreating] = useState(false)
  const [dialog, setDialog] = useState<OpenDialog>()
  const [created, setCreated] = useState<KeyWithSecret>()
  const close = () => setDialog(undefined)
  const expiringKeys = (list.data?.items ?? []).filter(expiresSoon)

  return (
    <>
      <div class="page-head">
        <h1>{t('Keys')}</h1>
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          {t('Create key')}
        </button>
      </div>
      <p class="soft">
        {richText(
          'Partner keys sign calls to the partner API. Session keys start verifications of students. These keys can access only {mode} data.',
          { mode: <strong>{MODE_NAMES[context.mode]}</strong> },
        )}
      </p>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      {expiringKeys.length > 0 && (
        <Notice kind="wait">
          {expiringKeys.length === 1
            ? t('1 key expires within 30 days. Create a new key, use it in your system, and revoke the old one.')
            : t(
                '{count} keys expire within 30 days. Create a new key, use it in your system, and revoke the old one.',
                { count: expiringKeys.length },
              )}
        </Notice>
      )}
      <Table
        caption={t('Keys')}
        rows={list.data?.items}
        keyOf={({ key_id }) => key_id}
        loading={list.loading}
        empty={
          <>
            <h2>{t('No {mode} keys yet', { mode: MODE_NAMES[context.mode] })}</h2>
            <p class="soft">{t('Create a key to call the API from your system.')}</p>
          </>
        }
        columns={[
          {
            name: t('Key'),
            cell: ({ key_id, name, kind }) => (
              <div class="key-id">
                {name && <div class="key-name">{name}</div>}
                <code class={name ? 'small' : ''}>{key_id}</code>
                <div class="soft small">{kind === 'session' ? t('session key') : t('partner key')}</div>
              </div>
            ),
          },
          { name: t('Scopes'), cell: ({ kind, scopes }) => (kind === 'session' ? '–' : <Scopes names={scopes} />) },
          {
            name: t('Status'),
            cell: ({ status, previous_secret_until }) => (
              <>
                <Badge state={status} />
                {status === 'active' && previous_secret_until && (
                  <div class="soft small">
                    {richText('old secret valid until {time}', { time: <Time at={previous_secret_until} /> })}
                  </div>
                )}
              </>
            ),
          },
          { name: t('Expires'), cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : t('never')) },
          {
            name: t('Last used'),
            cell: ({ created_at, last_used_at }) => (
              <>
                {last_used_at ? <Time at={last_used_at} /> : t('never')}
                <div class="soft small">{richText('created {time}', { time: <Time at={created_at} /> })}</div>
              </>
            ),
          },
          {
            name: t('Allowed from'),
            cell: ({ allowed_addresses }) => allowed_addresses?.join(', ') ?? t('any address'),
          },
          {
            name: t('Actions'),
            cell: (key) =>
              key.status === 'active' && (
                <span class="row key-actions">
                  <button type="button" class="plain flush" onClick={() => setDialog({ kind: 'rename', key })}>
                    {t('Rename')}
                  </button>
                  {key.kind === 'partner' && (
                    <>
                      <button type="button" class="plain flush" onClick={() => setDialog({ kind: 'limits', key })}>
                        {t('Limits')}
                      </button>
                      <button type="button" class="plain flush" onClick={() => setDialog({ kind: 'rotate', key })}>
                        {t('Rotate')}
                      </button>
                    </>
                  )}
                  <button type="button" class="plain flush" onClick={() => setDialog({ kind: 'addresses', key })}>
                    {t('Addresses')}
                  </button>
                  <button type="button" class="plain flush bad-text" onClick={() => setDialog({ kind: 'revoke', key })}>
                    {t('Revoke')}
                  </button>
                </span>
              ),
          },
        ]}
      />
      <EmbedOrigins />
      {creating && (
        <CreateKey
          path={path}
          maxDays={list.data?.max_days ?? null}
          onClose={() => setCreating(false)}
          onCreated={show}
        />
      )}
      {dialog?.kind === 'limits' && (
        <Dialog title={t('Current limit usage')} onClose={close}>
          <KeyLimits path={`${path}/${dialog.key.key_id}/limits`} />
        </Dialog>
      )}
      {dialog?.kind === 'rename' && (
        <RenameKey path={path} apiKey={dialog.key} onClose={close} onChanged={() => void list.reload()} />
      )}
      {dialog?.kind === 'addresses' && (
        <AllowedAddresses path={path} apiKey={dialog.key} onClose={close} onChanged={() => void list.reload()} />
      )}
      {dialog?.kind === 'rotate' && list.data && (
        <RotateKey path={path} apiKey={dialog.key} grace={list.data.grace_hours} onClose={close} onRotated={show} />
      )}
      {dialog?.kind === 'revoke' && (
        <Confirm
          title={t('Revoke {keyId}?', { keyId: keyLabel(dialog.key) })}
          action={t('Revoke key')}
          onClose={close}
          act={() => api(`${path}/${dialog.key.key_id}/revoke`, { body: {} })}
          onDone={() => void list.reload()}
        >
          <p>{t('All calls with this key fail, starting within one second. This cannot be undone.')}</p>
        </Confirm>
      )}
      {created && <KeySecret created={created} onClose={() => setCreated(undefined)} />}
    </>
  )

  function show(key: KeyWithSecret) {
    setCreated(key)
    void list.reload()
  }
}

function expiresSoon({ status, expires_at }: ApiKey): boolean {
  return status === 'active' && expires_at !== null && Date.parse(expires_at) - Date.now() <= EXPIRES_SOON_MS
}

function Scopes({ names }: { names: string[] }) {
  if (names.length < 4) return <>{names.join(', ')}</>
  return (
    <details>
      <summary>{t('{count} scopes', { count: names.length })}</summary>
      {names.join(', ')}
    </details>
  )
}
