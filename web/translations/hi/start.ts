export default {
  'The first campaign runs in test mode': 'पहला अभियान टेस्ट मोड में चलता है',
  'Switch to test mode': 'टेस्ट मोड में जाएँ',
  'Your first campaign': 'आपका पहला अभियान',
  'You create three things here: a <strong>workflow</strong> (how candidates are contacted), a <strong>job</strong> (its requirements and questions) and a <strong>campaign</strong> (the candidates to contact). Eleven test candidates answer automatically, and you are the twelfth candidate.':
    'यहाँ आप तीन चीज़ें बनाते हैं: एक <strong>वर्कफ़्लो</strong> (उम्मीदवारों से कैसे संपर्क हो), एक <strong>जॉब</strong> (उसकी ज़रूरतें और सवाल) और एक <strong>अभियान</strong> (जिन उम्मीदवारों से संपर्क करना है)। ग्यारह टेस्ट उम्मीदवार अपने-आप जवाब देते हैं, और बारहवें उम्मीदवार आप हैं।',
  'You need the recruiter role to run a campaign.': 'अभियान चलाने के लिए आपके पास रिक्रूटर की भूमिका होनी चाहिए।',
  'Workflow: how candidates are contacted': 'वर्कफ़्लो: उम्मीदवारों से कैसे संपर्क हो',
  '{workflow} uses {channels}, in {languages}, with one follow-up after a day.':
    '{workflow} के चैनल: {channels}। भाषाएँ: {languages}। एक दिन बाद एक फ़ॉलो-अप।',
  '{first} and {second}': '{first} और {second}',
  'A workflow sets the channels and their order, the languages, and the follow-ups for candidates who do not answer. You can use one workflow for many jobs.':
    'वर्कफ़्लो चैनल और उनका क्रम, भाषाएँ, और जवाब न देने वाले उम्मीदवारों के लिए फ़ॉलो-अप तय करता है। एक वर्कफ़्लो कई जॉब के लिए इस्तेमाल हो सकता है।',
  'Job: its requirements and questions': 'जॉब: उसकी ज़रूरतें और सवाल',
  'The job': 'जॉब',
  'Candidates are asked two of your own questions, 4 to 8 about each of two skills, and one about their interest.':
    'उम्मीदवारों से आपके अपने दो सवाल, दो कौशलों में से हर एक पर 4 से 8 सवाल, और रुचि के बारे में एक सवाल पूछा जाता है।',
  'Writing questions…': 'सवाल लिखे जा रहे हैं…',
  'An electrician in Pune. You ask whether the candidate has a licence (“no” disqualifies) and when they can start. Two skills are verified. Each candidate gets other questions about them: 4 to 8 per skill, until the verdict is certain enough.':
    'पुणे में एक इलेक्ट्रीशियन। आप पूछते हैं कि क्या उम्मीदवार के पास लाइसेंस है (“नहीं” पर अयोग्य) और वे कब से काम शुरू कर सकते हैं। दो कौशल सत्यापित किए जाते हैं। हर उम्मीदवार को इन कौशलों पर अलग सवाल मिलते हैं: हर कौशल पर 4 से 8, जब तक निर्णय काफ़ी निश्चित न हो जाए।',
  'Campaign: the candidates': 'अभियान: उम्मीदवार',
  '<link>The campaign</link> has twelve candidates. Each candidate costs one credit; the credit is refunded if a candidate cannot be reached.':
    '<link>अभियान</link> में बारह उम्मीदवार हैं। हर उम्मीदवार पर एक क्रेडिट लगता है; अगर उम्मीदवार से संपर्क न हो सके, तो क्रेडिट लौटा दिया जाता है।',
  'Eleven phone numbers are reserved for tests. Each number answers automatically in a different way, so that you see every possible outcome:':
    'ग्यारह फ़ोन नंबर टेस्ट के लिए आरक्षित हैं। हर नंबर अपने-आप अलग तरह से जवाब देता है, ताकि आप हर संभव नतीजा देख सकें:',
  'Your name, as the twelfth candidate': 'बारहवें उम्मीदवार के रूप में आपका नाम',
  'Results arrive here, and at your webhook endpoint, while the conversations run.':
    'बातचीत चलते समय नतीजे यहाँ और आपके वेबहुक एंडपॉइंट पर आते हैं।',
  'Granted {count} test credits; the balance is {balance}. Continue with “{label}”.':
    '{count} टेस्ट क्रेडिट दिए गए; अब कुल {balance} हैं। “{label}” से आगे बढ़ें।',
  'Complete the previous step first.': 'पहले पिछला चरण पूरा करें।',
  'The same call works in the partner API below {code}, signed with a key.':
    'यही कॉल पार्टनर API में {code} के तहत भी काम करती है, बशर्ते उस पर API कुंजी से हस्ताक्षर हों।',
  'Ask the operator for test credits.': 'ऑपरेटर से टेस्ट क्रेडिट माँगें।',
  'Grant {count} test credits': '{count} टेस्ट क्रेडिट दें',
  'The eleven test candidates have finished.': 'सभी ग्यारह टेस्ट उम्मीदवारों की बातचीत पूरी हो गई है।',
  '{count} of eleven test candidates have finished. Test candidates do not wait for hours: every follow-up and deadline comes after one second.':
    'ग्यारह में से {count} टेस्ट उम्मीदवारों की बातचीत पूरी हो गई है। टेस्ट उम्मीदवार घंटों इंतज़ार नहीं करते: हर फ़ॉलो-अप और समय-सीमा एक सेकंड बाद आ जाती है।',
  'The eleven test candidates': 'ग्यारह टेस्ट उम्मीदवार',
  Persona: 'व्यवहार',
  'Your turn: answer on your simulator phone': 'आपकी बारी: अपने सिम्युलेटर फ़ोन पर जवाब दें',
  'This is what a candidate sees. Choose an answer or type one; the result updates with every reply.':
    'उम्मीदवार को यही दिखता है। कोई जवाब चुनें या लिखें; हर जवाब के साथ नतीजा अपडेट होता है।',
  'Open all simulator phones': 'सभी सिम्युलेटर फ़ोन खोलें',
  'View results': 'नतीजे देखें',
  'View analytics': 'विश्लेषण देखें',
  undecided: 'तय नहीं',
  'Jobs ready': 'तैयार जॉब',
  'Assigned to you': 'आपको सौंपे गए',
  'Campaigns running': 'चालू अभियान',
  'Candidates in progress': 'बातचीत में उम्मीदवार',
  'Candidates completed': 'बातचीत पूरी कर चुके उम्मीदवार',
  Credits: 'क्रेडिट',
  '1 job could not be prepared.': '1 जॉब तैयार नहीं हो सकी।',
  '{count} jobs could not be prepared.': '{count} जॉब तैयार नहीं हो सकीं।',
  'See why': 'कारण देखें',
  '1 webhook endpoint is failing; events are queued.': '1 वेबहुक एंडपॉइंट काम नहीं कर रहा; इवेंट कतार में हैं।',
  '{count} webhook endpoints are failing; events are queued.': '{count} वेबहुक एंडपॉइंट काम नहीं कर रहे; इवेंट कतार में हैं।',
  'View delivery attempts': 'डिलीवरी के प्रयास देखें',
  '1 key expires within 30 days.': '1 API कुंजी 30 दिन के भीतर समाप्त हो जाएगी।',
  '{count} keys expire within 30 days.': '{count} API कुंजियाँ 30 दिन के भीतर समाप्त हो जाएँगी।',
  'View keys': 'API कुंजियाँ देखें',
  'View all candidates to call': 'कॉल करने योग्य सभी उम्मीदवार देखें',
  'Latest qualified candidates who have not turned the job down':
    'हाल के योग्य उम्मीदवार, जिन्होंने जॉब के लिए मना नहीं किया है',
  'No candidates to call yet. Qualified candidates who have not turned the job down appear here, with their phone number.':
    'अभी कॉल करने योग्य कोई उम्मीदवार नहीं है। जो योग्य उम्मीदवार जॉब के लिए मना नहीं करते, वे यहाँ अपने फ़ोन नंबर के साथ दिखते हैं।',
  Evidence: 'प्रमाण',
  'Latest campaigns': 'हाल के अभियान',
  'View all campaigns': 'सभी अभियान देखें',
  'The latest campaigns': 'हाल के अभियान',
  'No campaigns yet.': 'अभी कोई अभियान नहीं।',
  'See a campaign work': 'अभियान को चलते हुए देखें',
  'Eleven test candidates answer automatically, from consent to result. This takes two minutes in test mode.':
    'ग्यारह टेस्ट उम्मीदवार सहमति से लेकर नतीजे तक अपने-आप जवाब देते हैं। टेस्ट मोड में इसमें दो मिनट लगते हैं।',
  'Set up your own campaign': 'अपना अभियान तैयार करें',
  'Choose channels, languages and follow-ups, then describe a job.':
    'चैनल, भाषाएँ और फ़ॉलो-अप चुनें, फिर किसी जॉब का विवरण दें।',
  'Connect your system': 'अपना सिस्टम जोड़ें',
  'Create a key, send a job, and receive results as webhooks.': 'API कुंजी बनाएँ, जॉब भेजें, और नतीजे वेबहुक से पाएँ।',
  'First steps': 'पहले कदम',
  'Get started': 'शुरू करें',
}
