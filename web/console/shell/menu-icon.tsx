/** The strokes of the icons in the menu, on a grid of 16 by 16, by the last part of the path that the entry opens. */
const STROKES: Record<string, string> = {
  '': 'M2.5 7.5 8 3l5.5 4.5v6h-4V10h-3v3.5h-4z',
  workflows: 'M2.5 3h4v3.5h-4zM9.5 9.5h4V13h-4zM4.5 6.5v4.75h5',
  questions: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.2 6.4a1.8 1.8 0 1 1 2.6 1.7c-.5.3-.8.6-.8 1.2M8 11.4v.01',
  mandates: 'M2.5 5.5h11v7.5h-11zM6 5.5V4a1 1 0 0 1 1-1h2a1 1 0 0 1 1 1v1.5M2.5 9h11',
  campaigns: 'M3 6.5v3h2.5L12 13V3L5.5 6.5zM5.5 9.5V13M14 7v2',
  results: 'M2.5 4.5 4 6l2.3-3M2.5 11 4 12.5l2.3-3M9 5h4.5M9 11.5h4.5',
  phone: 'M5 2h6v12H5zM7.5 11.5h1',
  analytics: 'M3 13V8.5M8 13V3M13 13V6',
  verifications: 'M8 2 3 4v4c0 3 2 5 5 6 3-1 5-3 5-6V4zM5.8 8l1.6 1.6 2.9-3',
  credentials: 'M8 9.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM6 9l-1 5 3-1.5L11 14l-1-5',
  keys: 'M8.5 10.5a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM7.6 8.4 13 3M10.5 5.5l2 2',
  channels: 'M2.5 3.5h11v7.5H7l-3 2.5V11H2.5z',
  integrations: 'M6 2v3M10 2v3M4 5h8v3a4 4 0 0 1-8 0zM8 12v2',
  webhooks: 'M6 4H3v9h9v-3M9 3h4v4M13 3 7.5 8.5',
  events: 'M9 2 3.5 9H8l-1 5 5.5-7H8z',
  requests: 'M3 4h10M3 8h10M3 12h6',
  members:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13c0-2 2-3 4.5-3s4.5 1 4.5 3M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 10.2c1.6.4 2.5 1.3 2.5 2.8',
  people:
    'M2 3.5h12v9H2zM7 7a1.25 1.25 0 1 1-2.5 0A1.25 1.25 0 0 1 7 7zM3.8 10.5c.5-.8 1.1-1 2-1s1.5.2 2 1M10 7h2M10 9.5h2',
  branding: 'M8 2c2.5 3 4 5 4 7a4 4 0 0 1-8 0c0-2 1.5-4 4-7z',
  privacy: 'M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  audit: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3l2 2',
  now: 'M1.5 8H5l1.8-5 2.7 10 1.8-5h3.2',
  organisations: 'M3.5 14V2.5h9V14M2 14h12M6 5.5h1M9 5.5h1M6 8.5h1M9 8.5h1M7 14v-2.5h2V14',
  skills: 'M8 2.5l1.7 3.6 3.8.5-2.8 2.7.7 3.9L8 11.3l-3.4 1.9.7-3.9L2.5 6.6l3.8-.5z',
  jobs: 'M8 2.5 14 5.5l-6 3-6-3zM2 8.5l6 3 6-3M2 11.5l6 3 6-3',
  limits: 'M2.5 12a5.5 5.5 0 1 1 11 0M8 11.5 10.5 7',
  mails: 'M2.5 4h11v8.5h-11zM2.5 4.5 8 9l5.5-4.5',
  rings: 'M9.5 8A3.5 3.5 0 1 1 2.5 8a3.5 3.5 0 0 1 7 0zM13.5 8a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0z',
  operators: 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5C3 11 5.2 10 8 10s5 1 5 3.5',
  'breach-list': 'M8 2.5 14.5 13.5h-13zM8 6.5V10M8 12v.01',
}

/** The icon of a menu entry. It repeats the name next to it, so screen readers skip it. */
export function MenuIcon({ path }: { path: string }) {
  return (
    <svg class="menu-icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={STROKES[path.slice(1)]} />
    </svg>
  )
}
