import { render } from 'preact'
import '../ui/base.css'
import '../ui/parts.css'
import './my-credentials.css'
import { submitLanguageChoice } from '../credentials/language-choice.ts'
import { readPageTexts } from '../credentials/page-texts.ts'
import { takeLinkToken } from '../link-token.ts'
import { MyCredentials } from './page.tsx'

submitLanguageChoice()
render(<MyCredentials token={takeLinkToken() ?? ''} texts={readPageTexts()} />, document.getElementById('root')!)
