import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'

interface Limits {
  cooldowns: { key_id: string; org_id: string; until: string }[]
  visitors: { address: string; rule: string; until: string }[]
}

/** Who is being held back at this moment, and until when. */
export default function OperatorLimits() {
  const { data, refusal } = useData<Limits>('/operator/limits', { every: 3000 })
  return (
    <>
      <h1>Limits in force</h1>
      <p class="soft">Keys that called too often, and addresses that opened or tried too much. It passes by itself.</p>
      {refusal && <Notice kind="bad">{refusal.message}</Notice>}
      <h2>Keys in cooldown</h2>
      <Table
        caption="Keys in cooldown"
        rows={data?.cooldowns}
        keyOf={({ key_id }) => key_id}
        empty={<p class="soft">No key is in cooldown.</p>}
        columns={[
          { name: 'Key', cell: ({ key_id }) => <code>{key_id}</code> },
          {
            name: 'Organisation',
            cell: ({ org_id }) => (
              <Link to={`/${org_id}/live/requests?failed=true`}>
                <code>{org_id}</code>
              </Link>
            ),
          },
          { name: 'Until', cell: ({ until }) => <Time at={until} /> },
        ]}
      />
      <h2>Visitors</h2>
      <Table
        caption="Visitors that are limited"
        rows={data?.visitors}
        keyOf={({ address, rule }) => `${address} ${rule}`}
        empty={<p class="soft">No visitor is limited.</p>}
        columns={[
          { name: 'Address', cell: ({ address }) => <code>{address}</code> },
          { name: 'Rule', cell: ({ rule }) => rule },
          { name: 'Until', cell: ({ until }) => <Time at={until} /> },
        ]}
      />
    </>
  )
}
