import type { AuditEntry } from '../../api-types/console.ts'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import type { List } from '../shell/loading.ts'

/** Audit entries, newest first. */
export function AuditTable({ list, withOrganisation }: { list: List<AuditEntry>; withOrganisation: boolean }) {
  return (
    <Table
      caption="Audit log, newest first"
      rows={list.items}
      keyOf={({ audit_id }) => audit_id}
      loadMore={list.more}
      loading={list.loading}
      empty={<p class="soft">No entries yet.</p>}
      columns={[
        { name: 'When', cell: ({ at }) => <Time at={at} /> },
        {
          name: 'User',
          cell: ({ who, actor }) => (
            <>
              {who} {actor === 'operator' && <span class="badge">operator</span>}
            </>
          ),
        },
        { name: 'Action', cell: ({ action }) => action },
        {
          name: 'Object',
          cell: ({ subject, org_id }) => (subject && subject !== org_id ? <code>{subject}</code> : '–'),
        },
        ...(withOrganisation
          ? [
              {
                name: 'Organisation',
                cell: ({ org_id, mode }: AuditEntry) =>
                  org_id ? (
                    <>
                      <code>{org_id}</code> {mode}
                    </>
                  ) : (
                    '–'
                  ),
              },
            ]
          : [{ name: 'Mode', cell: ({ mode }: AuditEntry) => mode ?? '–' }]),
        { name: 'IP address', cell: ({ address, user_agent }) => <Source address={address} userAgent={user_agent} /> },
        {
          name: 'Details',
          cell: ({ details }) => <Details details={details} />,
        },
      ]}
    />
  )
}

function Source({ address, userAgent }: { address: string | null; userAgent: string | null }) {
  return address ? <code title={userAgent ?? undefined}>{address}</code> : <>–</>
}

function Details({ details }: { details: object }) {
  const entries = Object.entries(details)
  if (entries.length === 0) return <>–</>
  return (
    <ul class="plain-list small">
      {entries.map(([name, value]) => (
        <li key={name}>
          <span class="soft">{name.replaceAll('_', ' ')}</span>{' '}
          {typeof value === 'string' ? value : JSON.stringify(value)}
        </li>
      ))}
    </ul>
  )
}
