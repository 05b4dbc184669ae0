// The words of the interface, in Chinese and English.
const SAY = {
  motto: ["同一段话，两家标准，上下成联。", "One text, two standards, a couplet."],
  analyse: ["分析", "Analyse"], convert: ["转换", "Convert"], link: ["复制链接", "Copy link"],
  language: ["English", "中文"], theme: ["浅色或深色", "Light or dark"], skip: ["跳到结果", "Skip to the result"],
  text: ["文本", "Text"], placeholder: ["在此输入或粘贴中文……", "Type or paste Chinese here …"],
  words: ["自定义词", "Your words"], word: ["输入词语后按回车", "Type a word, press Enter"],
  annotated: ["粘贴带标注的文本，如 北京/ns", "Paste annotated text, such as 北京/ns"],
  from: ["从", "From"], to: ["到", "to"], swap: ["对调", "Swap"],
  different: ["切分不同", "segmented differently"], doubt: ["底色越深，把握越小", "darker: less certain"],
  standard: ["标准", "Standard"], slash: ["斜线", "Slash"],
  private: ["文本只发给本服务，不会被记录，也不会出现在发送的网址中。", "Your text goes to this service only and is never logged."],
  tree: ["依存树", "Tree"], nbest: ["其他可能", "Other analyses"], count: ["字", "characters"],
  otherwise: ["其他切分", "other words"],
  chosen: ["← 上面的答案", "← the answer above"],
  copied: ["已复制", "Copied"], remove: ["删除", "Remove"], offline: ["无法连接服务，它可能已经停止。您的文本没有丢失。", "The service cannot be reached; it may have stopped. Your text is still here."],
  sure: ["置信度", "confidence"], head: ["依存于", "depends on"], root: ["句子的根", "root of the sentence"],
  more: ["显示更多句子", "Show more sentences"], result: ["转换结果", "Converted text"], copy: ["复制", "Copy"],
  busy: ["正在分析……", "Analysing …"], wordsCount: ["词", "words"],
};

let current = 0;

export const isChinese = () => current === 0;
export const say = (key) => SAY[key][current];

export function setLanguage(name) {
  current = name === "en" ? 1 : 0;
  document.documentElement.lang = current ? "en" : "zh-Hans";
  for (const each of document.querySelectorAll("[data-say]")) each.textContent = say(each.dataset.say);
  for (const each of document.querySelectorAll("[data-placeholder]")) each.placeholder = say(each.dataset.placeholder);
  for (const each of document.querySelectorAll("[data-title]")) {
    each.title = say(each.dataset.title);
    each.setAttribute("aria-label", each.title);
  }
}
