import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { usePlace } from '../shell/session.ts'
import { type Key, type Keys as KeyList, type MadeKey, MakeKey, RotateKey, ShownOnce } from './key-forms.tsx'
import { KeyLimits } from './key-limits.tsx'

type Doing = { what: 'limits' | 'rotate' | 'revoke'; key: Key }

export default function Keys() {
  const place = usePlace()
  const path = place.at('/keys')
  const list = useData<KeyList>(path)
  const [making, setMaking] = useState(false)
  const [doing, setDoing] = useState<Doing>()
  const [made, setMade] = useState<MadeKey>()
  const done = () => setDoing(undefined)

  return (
    <>
      <div class="page-head">
        <h1>Keys</h1>
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          Make a key
        </button>
      </div>
      <p class="soft">
        A partner key signs calls to the partner API; a session key opens students' verification sessions. Both belong
        to <strong>{place.mode}</strong> data alone.
      </p>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Keys"
        rows={list.data?.items}
        keyOf={({ key_id }) => key_id}
        loading={list.loading}
        empty={
          <>
            <h2>No {place.mode} key yet</h2>
            <p class="soft">Make one, and sign a first call with it.</p>
          </>
        }
        columns={[
          { name: 'Key', cell: ({ key_id }) => <code>{key_id}</code> },
          { name: 'Kind', cell: ({ kind }) => kind },
          { name: 'Scopes', cell: ({ kind, scopes }) => (kind === 'session' ? '–' : <Scopes names={scopes} />) },
          {
            name: 'Status',
            cell: ({ status, previous_secret_until }) => (
              <>
                <Badge state={status} />
                {status === 'active' && previous_secret_until && (
                  <div class="soft small">
                    old secret valid until <Time at={previous_secret_until} />
                  </div>
                )}
              </>
            ),
          },
          { name: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Expires', cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : 'never') },
          {
            name: 'Do',
            cell: (key) =>
              key.status === 'active' && (
                <span class="row">
                  {key.kind === 'partner' && (
                    <>
                      <button type="button" class="plain flush" onClick={() => setDoing({ what: 'limits', key })}>
                        Limits
                      </button>
                      <button type="button" class="plain flush" onClick={() => setDoing({ what: 'rotate', key })}>
                        Rotate
                      </button>
                    </>
                  )}
                  <button type="button" class="plain flush" onClick={() => setDoing({ what: 'revoke', key })}>
                    Revoke
                  </button>
                </span>
              ),
          },
        ]}
      />
      {making && <MakeKey path={path} onClose={() => setMaking(false)} onMade={show} />}
      {doing?.what === 'limits' && (
        <Dialog title="Limits in use now" onClose={done}>
          <KeyLimits path={`${path}/${doing.key.key_id}/limits`} />
        </Dialog>
      )}
      {doing?.what === 'rotate' && list.data && (
        <RotateKey path={path} of={doing.key} grace={list.data.grace_hours} onClose={done} onRotated={show} />
      )}
      {doing?.what === 'revoke' && (
        <Confirm
          title={`Revoke ${doing.key.key_id}?`}
          action="Revoke the key"
          onClose={done}
          act={() => api(`${path}/${doing.key.key_id}/revoke`, { body: {} })}
          onDone={() => void list.reload()}
        >
          <p>Calls with it are refused within a second. This cannot be undone.</p>
        </Confirm>
      )}
      {made && <ShownOnce made={made} onClose={() => setMade(undefined)} />}
    </>
  )

  function show(key: MadeKey) {
    setMade(key)
    void list.reload()
  }
}

function Scopes({ names }: { names: string[] }) {
  if (names.length < 4) return <>{names.join(', ')}</>
  return (
    <details>
      <summary>{names.length} scopes</summary>
      {names.join(', ')}
    </details>
  )
}
