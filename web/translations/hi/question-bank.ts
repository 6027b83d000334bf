export default {
  Active: 'सक्रिय',
  Import: 'आयात करें',
  'Your own questions': 'आपके अपने सवाल',
  Responses: 'जवाब',
  Pilot: 'परीक्षण में',
  'Import questions': 'सवाल आयात करें',
  'File: CSV, or QTI 3.0 as XML or ZIP (up to 8 MB)': 'फ़ाइल: CSV, या QTI 3.0 (XML या ZIP, 8 MB तक)',
  'Skill ID of questions that name no skill (optional)': 'जिन सवालों में कौशल नहीं लिखा है, उनके लिए कौशल ID (वैकल्पिक)',
  'Nothing was imported.': 'कुछ भी आयात नहीं हुआ।',
  'The file has 1 error.': 'फ़ाइल में 1 त्रुटि है।',
  'Correct the file and choose it again.': 'फ़ाइल ठीक करें और उसे फिर से चुनें।',
  Errors: 'त्रुटियाँ',
  '{count} added': '{count} जोड़े गए',
  '{count} replaced': '{count} बदले गए',
  '{count} updated': '{count} अपडेट हुए',
  '{count} unchanged': '{count} में कोई बदलाव नहीं',
  'The file has no errors. An import would give: {changes}.': 'फ़ाइल में कोई त्रुटि नहीं है। आयात करने पर: {changes}।',
  'Imported: {changes}.': 'आयात हुआ: {changes}।',
  '{count} of them would start as pilot questions, which are asked without being scored.':
    'इनमें से {count} परीक्षण वाले सवालों के रूप में शुरू होंगे, जो पूछे जाते हैं पर अंकों में नहीं गिने जाते।',
  '{count} of them start as pilot questions, which are asked without being scored.':
    'इनमें से {count} परीक्षण वाले सवालों के रूप में शुरू होते हैं, जो पूछे जाते हैं पर अंकों में नहीं गिने जाते।',
  '1 question looks weak. You can improve it and import the file again.':
    '1 सवाल कमज़ोर लगता है। आप उसे सुधारकर फ़ाइल फिर से आयात कर सकते हैं।',
  '{count} findings look weak. You can improve them and import the file again.':
    '{count} कमियाँ मिलीं। आप उन्हें सुधारकर फ़ाइल फिर से आयात कर सकते हैं।',
  Warnings: 'चेतावनियाँ',
  Position: 'जगह',
  'And {count} more.': 'और {count} अन्य।',
  '{skills}: this skill is verified with built-in questions. Anyone can read them with their answers, because Attestry is open source. Candidates who prepare with them can be verified without the skill.':
    '{skills}: यह कौशल पहले से मौजूद सवालों से सत्यापित होता है। Attestry ओपन सोर्स है, इसलिए कोई भी ये सवाल और उनके जवाब पढ़ सकता है। इनसे तैयारी करने वाले उम्मीदवार कौशल के बिना भी सत्यापित हो सकते हैं।',
  '{skills}: these skills are verified with built-in questions. Anyone can read them with their answers, because Attestry is open source. Candidates who prepare with them can be verified without the skill.':
    '{skills}: ये कौशल पहले से मौजूद सवालों से सत्यापित होते हैं। Attestry ओपन सोर्स है, इसलिए कोई भी ये सवाल और उनके जवाब पढ़ सकता है। इनसे तैयारी करने वाले उम्मीदवार कौशल के बिना भी सत्यापित हो सकते हैं।',
  'For LIVE jobs, import at least 12 questions of your own for each skill. <link>Open your own questions</link>':
    'लाइव जॉब के लिए हर कौशल पर अपने कम से कम 12 सवाल आयात करें। <link>अपने सवाल खोलें</link>',
  'Export QTI': 'QTI निर्यात करें',
  'The questions of your organisation. Only owners can read them, and new jobs use them instead of the built-in questions as soon as a skill has {min} active ones. TEST and LIVE share them.':
    'आपके संगठन के सवाल। इन्हें केवल ओनर पढ़ सकते हैं, और जैसे ही किसी कौशल के {min} सक्रिय सवाल हो जाते हैं, नई जॉब पहले से मौजूद सवालों की जगह इन्हें इस्तेमाल करती हैं। टेस्ट और लाइव, दोनों में यही सवाल रहते हैं।',
  'Skills with questions of your organisation': 'आपके संगठन के सवालों वाले कौशल',
  'No questions yet': 'अभी कोई सवाल नहीं',
  'Import a CSV file or a QTI 3.0 package above.': 'ऊपर CSV फ़ाइल या QTI 3.0 पैकेज आयात करें।',
  'An owner of your organisation can import questions.': 'आपके संगठन के ओनर सवाल आयात कर सकते हैं।',
  'New jobs': 'नई जॉब',
  'use these questions': 'ये सवाल इस्तेमाल करते हैं',
  '{count} more active needed': '{count} और सक्रिय सवाल चाहिए',
  'Questions about {name}': '{name} के सवाल',
  'Pilot questions are asked without being scored until their statistics are known. Numbers appear after the first LIVE responses.':
    'परीक्षण वाले सवाल तब तक बिना अंक के पूछे जाते हैं जब तक उनके आँकड़े पता न चल जाएँ। संख्याएँ पहले लाइव जवाबों के बाद दिखती हैं।',
  'No questions about this skill.': 'इस कौशल पर कोई सवाल नहीं।',
  'Delete {id}': '{id} हटाएँ',
  Delete: 'हटाएँ',
  'Delete the question {id}?': 'सवाल {id} हटाएँ?',
  'Delete question': 'सवाल हटाएँ',
  'Its text and statistics are deleted, and existing jobs do not ask it any more. To use it again, import it as a new question.':
    'इसका टेक्स्ट और आँकड़े हटा दिए जाएँगे, और मौजूदा जॉब में इसे अब नहीं पूछा जाएगा। फिर से इस्तेमाल करने के लिए इसे नए सवाल के रूप में आयात करें।',
  miskeyed: 'सही जवाब गलत दर्ज',
  leaked: 'जवाब पता चल गया',
  'not discriminating': 'फ़र्क नहीं दिखाता',
  manual: 'किसी व्यक्ति ने हटाया',
}
