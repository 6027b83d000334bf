import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import type { List } from '../shell/loading.ts'

export interface AuditEntry {
  audit_id: string
  at: string
  who: string
  org_id: string | null
  mode: string | null
  action: string
  subject: string | null
  details: object
  request_id: string | null
}

/** Who changed what: only ever added to. */
export function AuditTable({ list, withOrganisation }: { list: List<AuditEntry>; withOrganisation: boolean }) {
  return (
    <Table
      caption="Audit log, newest first"
      rows={list.items}
      keyOf={({ audit_id }) => audit_id}
      more={list.more}
      loading={list.loading}
      empty={<p class="soft">Nothing has been changed yet.</p>}
      columns={[
        { name: 'When', cell: ({ at }) => <Time at={at} /> },
        { name: 'Who', cell: ({ who }) => who },
        { name: 'What', cell: ({ action }) => action },
        { name: 'On', cell: ({ subject, org_id }) => (subject && subject !== org_id ? <code>{subject}</code> : '–') },
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
        {
          name: 'Details',
          cell: ({ details }) => <Details of={details} />,
        },
      ]}
    />
  )
}

function Details({ of }: { of: object }) {
  const entries = Object.entries(of)
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
