import type { ColourCheck } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'

interface Props {
  name: string
  logoUrl: string | undefined
  /** The colours of the organisation; undefined for those of Attestry. */
  colours: ColourCheck['colours'] | undefined
  footer: string
  homepage: string
}

/** A page of a candidate in both themes, and the start of an email, as they look with the values of the form. */
export function BrandingPreview(props: Props) {
  const { colours } = props
  return (
    <section class="stack" aria-label={t('Preview')}>
      <h2>{t('Preview')}</h2>
      <PagePreview
        {...props}
        theme="light"
        variables={colours && { '--brand': colours.light, '--brand-ink': colours.lightText }}
      />
      <PagePreview
        {...props}
        theme="dark"
        variables={colours && { '--brand': colours.dark, '--brand-ink': colours.darkText }}
      />
      <EmailPreview {...props} />
    </section>
  )
}

function PagePreview({
  name,
  logoUrl,
  footer,
  homepage,
  theme,
  variables,
}: Props & { theme: 'light' | 'dark'; variables: Record<string, string> | undefined }) {
  return (
    <div class={`branding-preview ${theme}`} style={variables}>
      <div class="preview-head">
        {logoUrl && <img class="brand-logo" src={logoUrl} alt="" />}
        <div>
          <strong>{t('Electrician')}</strong>
          <p class="soft small">{name}</p>
        </div>
      </div>
      <div class="stack-tight preview-body">
        <p>{t('Are you interested in this job?')}</p>
        <span class="button primary">{t('Yes')}</span>
        <p class="small">
          <span class="preview-link">{t('Your personal data')}</span>
        </p>
        <PreviewFooter footer={footer} homepage={homepage} />
      </div>
    </div>
  )
}

/** Emails have a light background in every theme. */
function EmailPreview({ name, logoUrl, colours, footer, homepage }: Props) {
  return (
    <div class="branding-preview light email" style={colours && { '--brand': colours.light }}>
      <p class="small soft preview-from">{t('From: {name} via Attestry', { name })}</p>
      <div class="preview-head">
        {logoUrl && <img class="brand-logo" src={logoUrl} alt="" />}
        <strong>{name}</strong>
      </div>
      <div class="stack-tight preview-body">
        <p>{t('Hello Asha, …')}</p>
        <PreviewFooter footer={footer} homepage={homepage} />
      </div>
    </div>
  )
}

function PreviewFooter({ footer, homepage }: Pick<Props, 'footer' | 'homepage'>) {
  if (!footer && !homepage) return null
  return (
    <div class="small soft">
      {footer && <p>{footer}</p>}
      {homepage && (
        <span class="preview-link">{homepage.replace(/^https:\/\/(?:www\.)?/, '').replace(/\/.*$/, '')}</span>
      )}
    </div>
  )
}
