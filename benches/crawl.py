"""usage: crawl.py HOME_URL N

Follows the links of a site from one of its pages with scrapy, politeness off, 16 requests at a time, until it has had
N pages or all of them. Nothing is done with a page but what following links needs.
Prints pages, bytes and seconds of wall time, crawling only.
"""

import sys
import time
from urllib.parse import urldefrag, urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

home, most = sys.argv[1], int(sys.argv[2])
had = {"pages": 0, "bytes": 0}


class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [home]
    links = LinkExtractor(allow=["^" + home.split("/", 3)[0] + "//" + urlsplit(home).netloc + "/"])

    def parse(self, response):
        if not isinstance(response, HtmlResponse):
            return
        had["pages"] += 1
        had["bytes"] += len(response.body)
        for link in self.links.extract_links(response):
            url = urldefrag(link.url).url
            if url.endswith((".html", "/")):
                yield scrapy.Request(url)


process = CrawlerProcess(
    {
        "LOG_ENABLED": False,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_ENABLED": False,
        "CLOSESPIDER_PAGECOUNT": most,
    }
)
began = time.perf_counter()
process.crawl(Pages)
process.start()
took = time.perf_counter() - began
print(had["pages"], had["bytes"], took)
